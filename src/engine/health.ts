import { reasonOf } from '../errors.ts';
import type { HealthProblem } from '../group/membership.ts';
import { type DecisionPolicy, type Gate, isTooStale } from './decide.ts';
import type { Entry } from './entry.ts';

/** What the health of an entry depends on beside the entry. */
interface HealthPolicy extends Omit<DecisionPolicy, 'whenClosed'> {
  readonly name: string;
  readonly isRequired: boolean;
}

/**
 * What somebody should know of an entry: that reads of it fail, or that its executions do.
 *
 * Fatal is what keeps reads from being answered. A failing reload alone is not: what was loaded before is served, and to
 * take every instance out of service because the source is down would make an outage of it. Nor is a value too old that
 * merely was not read for a while: the next read reloads it.
 *
 * @param now the monotonic clock in milliseconds, both clocks having been compared.
 */
export function entryHealth(entry: Entry<unknown>, policy: HealthPolicy, now: number): HealthProblem[] {
  const { isLoaded, failures, lastError: error, maxStalenessMs } = entry;
  const { name, isRequired, gate, whenTooStale } = policy;
  const why = `${entry.flight === undefined ? '' : ', is being loaded'}${error === undefined ? '' : `: ${reasonOf(error)}`}`;
  function problem(kind: HealthProblem['kind'], isFatal: boolean, message: string): HealthProblem[] {
    return [{ name, kind, isFatal, message: `${message}${why}`, ...(error === undefined ? {} : { error }) }];
  }

  if (!isLoaded && isRequired) return problem('not-loaded', true, 'is required, and had no success yet');
  if (isLoaded && whenTooStale !== 'serve' && isTooStale(entry, now)) {
    const isFatal = failures > 0 || gate !== 'open';
    const age = Math.round(now - entry.loadedAt);
    return problem('too-stale', isFatal, `is ${age} ms old, over maxStaleness of ${maxStalenessMs} ms`);
  }
  return failures > 0
    ? problem('failing', false, failures === 1 ? 'failed' : `failed ${failures} times in a row`)
    : [];
}

/** What somebody should know of the gate of a member. */
export function gateHealth(gate: Gate, name: string): HealthProblem[] {
  if (gate === 'open') return [];
  return [{ name, kind: gate, isFatal: gate === 'closed', message: `is ${gate}` }];
}

/** What somebody should know of a lock or a store that can't be asked. Reads go on, so neither is fatal. */
export function clusterHealth(
  name: string,
  {
    lockError,
    storeError,
  }: { readonly lockError: Error | undefined; readonly storeError: Error | undefined },
): HealthProblem[] {
  const problems: HealthProblem[] = [];
  function tell(kind: HealthProblem['kind'], error: Error | undefined): void {
    if (error !== undefined) problems.push({ name, kind, isFatal: false, message: reasonOf(error), error });
  }
  tell('lock-unavailable', lockError);
  tell('store-unavailable', storeError);
  return problems;
}
