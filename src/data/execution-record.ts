/**
 * Why a load runs. `first`: there was no value yet, or only that of the option `initial`; `due`: a read found that the next execute time has passed;
 * `forced`: `refresh()` or `execute()`; `invalidated`: the first one after `invalidate()`, also where there was no value.
 */
export type Trigger = 'first' | 'due' | 'forced' | 'invalidated';

/**
 * How an execution ended:
 * - `loaded`: the load returned a value, or `absent()` (a task: ended);
 * - `kept`: it returned `keep()`, or with the option `unchanged` what is in place: the old value has a new age;
 * - `adopted`: no load ran, the result of another instance was taken over, or has confirmed the value in place;
 * - `deferred`: no load ran, another instance is loading, or the version in place is pinned;
 * - `failed`: it did not succeed, after all its tries, or before the first one: the lock could not be asked;
 * - `refused`: `schema` or `accept` refused the value that was loaded, or the snapshot of another instance (`attempts` is 0);
 * - `timed-out`: it was aborted at its deadline;
 * - `cancelled`: by `cancel()`, or by `set`, a drop or `close`, after which there is no cool-down;
 * - `late`: after `timed-out` or `cancelled` the load returned a result, which is dropped.
 */
export type ExecutionOutcome = (typeof OUTCOMES)[number];

/** All of them. */
export const OUTCOMES = [
  'loaded',
  'kept',
  'adopted',
  'deferred',
  'failed',
  'refused',
  'timed-out',
  'cancelled',
  'late',
] as const;

/** An execution of a value, a task or a key of a cache that begins. */
export interface ExecutionStart {
  readonly trigger: Trigger;
  /** No caller waited for it when it was started. */
  readonly background: boolean;
  /** The key, of a `RefreshingCache`; not present elsewhere. */
  readonly key?: unknown;
}

/** A try that failed and was followed by another one. */
export interface FailedTry<E = string> {
  readonly error: E;
  /** The time until the next try, in milliseconds: that of `retry`, or longer where the source asked for it. */
  readonly pause: number;
}

/**
 * An execution of a value, a task or a key of a cache on this instance, which has ended.
 *
 * @typeParam E an error: of an event the `Error`, else its message, at most 500 characters.
 */
export interface ExecutionRecord<E = string> extends ExecutionStart {
  /** When it began, in epoch milliseconds; behind a lock: when it had the lease. */
  readonly startedAt: number;
  /** How long it took, tries and pauses included, in milliseconds; 0 of a result that a check of the store has found. */
  readonly took: number;
  readonly outcome: ExecutionOutcome;
  /** How many times the load was called; 0: not at all. */
  readonly attempts: number;
  /** The tries before the last one, oldest first: the last nine. */
  readonly tries: readonly FailedTry<E>[];
  /** `undefined`: it did not fail, nor did the schedule. */
  readonly error: E | undefined;
  /** Reads start no load before this instant, in epoch milliseconds; `undefined`: there is no cool-down. */
  readonly retryAt: number | undefined;
  /** When the next one is due, in epoch milliseconds; `undefined`: it has no result. */
  readonly nextExecuteTime: number | undefined;
  /** The age of its value: 0, or of a snapshot that was adopted the time since its load, in milliseconds; `undefined`: it has none. */
  readonly age: number | undefined;
  /** The source does not have the key: the load returned `absent()`. */
  readonly isAbsent: boolean;
  /** The fencing token of its lease; `undefined`: it had none. */
  readonly token: number | undefined;
  /** The version of its result for other instances: the token, once published, or what was adopted; `undefined`: it has none. */
  readonly version: number | undefined;
  /** The size of its result as it was read or is to be written, in bytes of UTF-8; `undefined`: not known when it ended. */
  readonly bytes: number | undefined;
}

/** Facts that an execution knows of itself, whatever its end. */
type Course = Pick<ExecutionRecord<Error>, 'startedAt' | 'took' | 'attempts'> &
  Partial<Pick<ExecutionRecord<Error>, 'tries' | 'token' | 'bytes'>>;

/** The end of an execution, once its result is applied. */
export type ExecutionEnd = Pick<ExecutionRecord<Error>, 'outcome'> &
  Partial<
    Pick<ExecutionRecord<Error>, 'error' | 'retryAt' | 'nextExecuteTime' | 'age' | 'isAbsent' | 'version'>
  >;

const NO_TRIES: readonly FailedTry<Error>[] = [];

/** Field by field, as each load makes one: a spread with further fields takes microseconds. */
export function executionRecord(
  start: ExecutionStart,
  course: Course,
  end: ExecutionEnd,
): ExecutionRecord<Error> {
  const record: ExecutionRecord<Error> & { key?: unknown } = {
    trigger: start.trigger,
    background: start.background,
    startedAt: course.startedAt,
    took: course.took,
    outcome: end.outcome,
    attempts: course.attempts,
    tries: course.tries ?? NO_TRIES,
    error: end.error,
    retryAt: end.retryAt,
    nextExecuteTime: end.nextExecuteTime,
    age: end.age,
    isAbsent: end.isAbsent ?? false,
    token: course.token,
    version: end.version,
    bytes: course.bytes,
  };
  if (start.key !== undefined) record.key = start.key;
  return record;
}

/** The begin of an execution that a check of the store makes. */
export function checkStart({ key }: { readonly key: unknown }): ExecutionStart {
  return { trigger: 'due', background: true, key };
}

/** An execution on an instance, as that instance has reported it. */
export interface ReportedExecution
  extends Pick<ExecutionRecord, 'took' | 'trigger' | 'outcome' | 'attempts' | 'error'> {
  /** How long ago it began, in milliseconds. */
  readonly ago: number;
  /** The key as text, at most 80 characters; `undefined`: it is not one of a cache. */
  readonly key: string | undefined;
}
