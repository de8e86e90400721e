import type { HealthProblem } from '../membership.ts';
import { type DecisionPolicy, decide, type Gate } from './decide.ts';
import type { Entry } from './entry.ts';

/**
 * What somebody should know of an entry: that reads of it fail, or that its executions do.
 *
 * A failing reload alone is not fatal: what was loaded before is served, and to take every instance out of service
 * because the source is down would make an outage of it.
 *
 * @param now the monotonic clock in milliseconds, both clocks having been compared.
 */
export function entryHealth(
  entry: Entry<unknown>,
  policy: Omit<DecisionPolicy, 'gate'>,
  { name, isRequired }: { readonly name: string; readonly isRequired: boolean },
  now: number,
): HealthProblem[] {
  const problems: HealthProblem[] = [];
  const { lastError: error } = entry;
  const isLoading = entry.flight !== undefined;
  const why = `${isLoading ? ', is being loaded' : ''}${error === undefined ? '' : `: ${error.message}`}`;
  function tell(kind: HealthProblem['kind'], isFatal: boolean, message: string): void {
    const key = entry.key === undefined ? {} : { key: entry.key };
    problems.push({ name, ...key, kind, isFatal, message, ...(error === undefined ? {} : { error }) });
  }

  const age = now - entry.loadedAt;
  const decision = decide(entry, { ...policy, gate: 'open' }, now);
  if (!entry.isLoaded && isRequired) tell('not-loaded', true, `is required, and had no success yet${why}`);
  else if (entry.isLoaded && decision !== 'serve' && decision !== 'serve-and-start') {
    const limit = entry.maxStalenessMs;
    tell('too-stale', true, `is ${Math.round(age)} ms old, over maxStaleness of ${limit} ms${why}`);
  } else if (entry.failures > 0) tell('failing', false, `failed ${entry.failures} times in a row${why}`);
  return problems;
}

/** What somebody should know of the gate of a member. */
export function gateHealth(gate: Gate, name: string): HealthProblem[] {
  if (gate === 'open') return [];
  return [{ name, kind: gate, isFatal: gate === 'closed', message: `is ${gate}` }];
}
