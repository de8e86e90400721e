import { isTooStale } from '../engine/decide.ts';
import type { Entry } from '../engine/entry.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { isAbsentError } from '../errors.ts';

/** What is served at one instant, and how old it is. A copy: it does not change. */
export interface ValueStatus<T> extends ExecutionStatus {
  /** The value; no such property while there is none. */
  readonly value?: T;
  /**
   * `empty`: nothing loaded; `fresh`: loaded and not due; `stale`: due for a reload; `too-stale`: older than
   * `maxStaleness`; `absent`: a key that the source does not have.
   */
  readonly state: 'empty' | 'fresh' | 'stale' | 'too-stale' | 'absent';
  /** When the value was loaded (or kept, or set): the end of the load in epoch milliseconds. `undefined`: never. */
  readonly loadedAt: number | undefined;
  /** Milliseconds since then, by the monotonic clock: right also when the wall clock was stepped. */
  readonly age: number | undefined;
  /** There is a value, and it is due for a reload (`state` is `stale` or `too-stale`). */
  readonly isStale: boolean;
  /** The age beyond which it is too stale, in milliseconds; `Infinity`: none. */
  readonly maxStaleness: number;
}

/**
 * @param execution the status of its executions, just taken.
 * @param now the monotonic clock in milliseconds.
 */
export function valueStatus<T>(entry: Entry<T>, execution: ExecutionStatus, now: number): ValueStatus<T> {
  const { isLoaded, maxStalenessMs } = entry;
  const state = stateOf(entry, execution.isDue, now);
  return {
    ...execution,
    ...(isLoaded ? { value: entry.value as T } : {}),
    state,
    loadedAt: isLoaded ? entry.last?.endedAt : undefined,
    age: isLoaded ? now - entry.loadedAt : undefined,
    isStale: state === 'stale' || state === 'too-stale',
    maxStaleness: maxStalenessMs,
  };
}

function stateOf(entry: Entry<unknown>, isDue: boolean, now: number): ValueStatus<unknown>['state'] {
  if (!entry.isLoaded) return isAbsentError(entry.lastError) ? 'absent' : 'empty';
  if (isTooStale(entry, now)) return 'too-stale';
  return isDue ? 'stale' : 'fresh';
}
