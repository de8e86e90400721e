import type { StoreSteps } from '../cluster/backend-steps.ts';
import type { InstanceReport } from '../cluster/store-contract.ts';
import { versionsOf } from '../cluster/versions-of.ts';
import type { StoreBackend } from './store-backend.ts';

/** The steps of checks on a backend, with the reports of one namespace. */
export interface NamespacedReports extends Pick<StoreSteps, 'versions' | 'reports'> {
  /** The report as the backend takes it with another step; `undefined`: it takes none there. */
  readonly taken: (report: InstanceReport | undefined) => InstanceReport | undefined;
}

/**
 * There each instance begins with the length of the namespace and the namespace, so that no namespace has the beginning of
 * another one.
 *
 * @param backend its names are those of the namespace.
 */
export function namespacedReports(backend: StoreBackend, namespace: string | undefined): NamespacedReports {
  const beginning = namespace === undefined ? '/' : `${namespace.length}/${namespace}/`;
  const inside = (report: InstanceReport | undefined): InstanceReport | undefined =>
    report && { ...report, instance: beginning + report.instance };
  return {
    taken: (report) => (backend.takesReports ? inside(report) : undefined),
    versions: (names, report) => versionsOf(backend, names, inside(report)),
    async reports() {
      const reports = (await backend.reports?.(beginning)) ?? [];
      return reports.map(({ instance, text, age }) => ({
        instance: instance.slice(beginning.length),
        text,
        age: Math.max(0, age), // negative where the backend's clock was set back
      }));
    },
  };
}
