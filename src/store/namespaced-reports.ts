import type { Store } from '../cluster/store-contract.ts';
import { versionsOf } from '../cluster/versions-of.ts';
import type { StoreEngine } from './store-engine.ts';

/**
 * The steps of checks on a backend, with the reports of one namespace. There each instance begins with the length of the
 * namespace and the namespace, so that no namespace has the beginning of another one.
 *
 * @param backend its names are those of the namespace.
 */
export function namespacedReports(
  backend: StoreEngine,
  namespace: string | undefined,
): Pick<Store, 'versions' | 'reports'> {
  const beginning = namespace === undefined ? '/' : `${namespace.length}/${namespace}/`;
  return {
    versions: (names, report) =>
      versionsOf(backend, names, report && { ...report, instance: beginning + report.instance }),
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
