/**
 * Why a load runs. `first`: there was no value yet, or only that of the option `initial`; `due`: a read found that the next execute time has passed;
 * `forced`: `refresh()` or `execute()`; `invalidated`: the first one after `invalidate()`, also where there was no value.
 */
export type Trigger = 'first' | 'due' | 'forced' | 'invalidated';

/**
 * How an execution ended:
 * - `loaded`, `kept`, `absent`: the load returned a value (a task: ended), `keep()`, `absent()`;
 * - `adopted`: no load ran, the result of another instance was taken over;
 * - `failed`, `timed-out`: it did not succeed, after all its tries, or before the first one: the lock could not be asked;
 * - `aborted`: ended by `set`, a drop or `close`.
 */
export type ExecutionOutcome = 'loaded' | 'kept' | 'absent' | 'adopted' | 'failed' | 'timed-out' | 'aborted';

/** An execution of a value, a task or a key of a cache on this instance, which has ended. */
export interface ExecutionRecord {
  /** When it began, in epoch milliseconds; behind a lock: when it had the lease. */
  readonly at: number;
  /** How long it took, tries and pauses included, in milliseconds; 0 of a result that a check of the store has found. */
  readonly took: number;
  readonly trigger: Trigger;
  readonly outcome: ExecutionOutcome;
  /** How many times the load was called; 0: not at all. */
  readonly attempts: number;
  /** The message of its error, at most 500 characters; `undefined`: it did not fail. */
  readonly error: string | undefined;
  /** The fencing token of its lease; `undefined`: it had none. */
  readonly token: number | undefined;
  /** The key, of a `RefreshingCache`; `undefined` of other members. */
  readonly key: unknown;
}

/** An execution on an instance, as that instance has reported it. */
export interface ReportedExecution
  extends Pick<ExecutionRecord, 'took' | 'trigger' | 'outcome' | 'attempts' | 'error'> {
  /** How long ago it began, in milliseconds. */
  readonly ago: number;
  /** The key as text, at most 80 characters; `undefined`: it is not one of a cache. */
  readonly key: string | undefined;
}
