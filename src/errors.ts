/** What every error of tickless carries beside its message. */
interface ErrorDetails {
  /** The `name` option of the value or executor that it is about. */
  readonly cacheName: string;
  /** The key that it is about, in a keyed cache. */
  readonly key?: unknown;
  /** What led to it: the error of the load, the error that a cool-down follows, the error of a schedule. */
  readonly cause?: unknown;
}

/**
 * What all errors of tickless have in common. `code` never changes between versions; the `is…` guards compare it,
 * so they hold also when two copies of tickless are installed, where `instanceof` would not.
 */
export abstract class TicklessError extends Error {
  abstract readonly code: `ERR_TICKLESS_${string}`;
  /** The `name` option of the value or executor that the error is about. */
  readonly cacheName: string;
  /** The key that the error is about; no such property where it is about no single key of a `RefreshingCache`. */
  declare readonly key?: unknown;

  constructor(message: string, { cacheName, key, cause }: ErrorDetails) {
    super(`${subject(cacheName, key)}: ${message}`, cause === undefined ? undefined : { cause });
    this.cacheName = cacheName;
    if (key !== undefined) this.key = key;
  }
}

/** What it is about: the name, with the key where there is one. */
function subject(cacheName: string, key: unknown): string {
  return key === undefined ? cacheName : `${cacheName}[${showKey(key)}]`;
}

/** The message of an error without the subject that ours begin with, for where that is told already. */
export function reasonOf(error: Error): string {
  const { cacheName, key } = error as Partial<TicklessError>;
  const prefix = cacheName === undefined ? '' : `${subject(cacheName, key)}: `;
  return error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
}

/** The name of the lock, and of the snapshot, of a key: no two keys share one. */
export function lockName(cacheName: string, id: unknown): string {
  return `${cacheName}[${typeof id === 'bigint' ? `${id}n` : show(id)}]`;
}

/** A key may be a whole request. */
const LONGEST_KEY = 80;

/** A key as it stands in messages: a string in quotes, an object as JSON, cut at a bearable length. Never throws. */
export function showKey(key: unknown): string {
  return cut(show(key), LONGEST_KEY);
}

function hasCode(error: unknown, code: string): boolean {
  try {
    return error instanceof Error && 'code' in error && error.code === code;
  } catch {
    return false; // a revoked proxy, a getter that throws
  }
}

/** One rule that an option broke. */
export interface OptionProblem {
  /** The option, with its path: `retry.minTimeout`. */
  readonly option: string;
  /** What the option must be, ready to follow its name: `must be a duration over 0`. */
  readonly rule: string;
  /** The value that was given. */
  readonly received: unknown;
}

/**
 * An option, an argument or the answer of a schedule breaks a rule. Thrown at construction with all broken rules
 * at once; `option`, `rule` and `received` are those of the first.
 */
export class OptionError extends TicklessError {
  override readonly name: string = 'OptionError';
  readonly code = 'ERR_TICKLESS_OPTION';
  readonly option: string;
  readonly rule: string;
  readonly received: unknown;
  /** All broken rules, in the order of the options' documentation. At least one. */
  readonly problems: readonly OptionProblem[];

  constructor(problems: readonly [OptionProblem, ...OptionProblem[]], details: ErrorDetails) {
    const more = problems.length - MOST_PROBLEMS;
    const described = problems.slice(0, MOST_PROBLEMS).map(describe).join('; ');
    super(more > 0 ? `${described}; and ${more} more` : described, details);
    this.problems = problems;
    ({ option: this.option, rule: this.rule, received: this.received } = problems[0]);
  }
}

/** Each of a million entries of a dump may break a rule, and each may be a book. */
const MOST_PROBLEMS = 20;
const LONGEST_RECEIVED = 200;

function describe({ option, rule, received }: OptionProblem): string {
  return `${option} ${rule}, received ${cut(show(received), LONGEST_RECEIVED)}`;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value); // circular, or a toJSON() that throws
  }
}

/** Is it an {@link OptionError}, of this or another installed copy of tickless? Never throws. */
export function isOptionError(error: unknown): error is OptionError {
  return hasCode(error, 'ERR_TICKLESS_OPTION');
}

/**
 * There is no value yet, and this way of reading doesn't wait for one: `current` before the first success, or any
 * read of a paused value that was never loaded. `cause` is the error of the last load, if there was one.
 */
export class NotLoadedError extends TicklessError {
  override readonly name: string = 'NotLoadedError';
  readonly code = 'ERR_TICKLESS_NOT_LOADED';
}

/** Is it a {@link NotLoadedError}, of this or another installed copy of tickless? Never throws. */
export function isNotLoadedError(error: unknown): error is NotLoadedError {
  return hasCode(error, 'ERR_TICKLESS_NOT_LOADED');
}

/** A load or task failed, after all its tries. `cause` is what the last try threw. */
export class LoadError extends TicklessError {
  override readonly name: string = 'LoadError';
  readonly code = 'ERR_TICKLESS_LOAD';
  /** How many times the load was called in this execution, 1 or more. */
  readonly attempts: number;

  constructor(message: string, details: ErrorDetails & { readonly attempts: number }) {
    super(message, details);
    this.attempts = details.attempts;
  }
}

/** Is it a {@link LoadError}, of this or another installed copy of tickless? Never throws. */
export function isLoadError(error: unknown): error is LoadError {
  return hasCode(error, 'ERR_TICKLESS_LOAD');
}

/** An execution was aborted at its `timeout`. `cause` is what its last failed try threw, if one did. */
export class LoadTimeoutError extends TicklessError {
  override readonly name: string = 'LoadTimeoutError';
  readonly code = 'ERR_TICKLESS_LOAD_TIMEOUT';
  /** How many times the load was called in this execution, 1 or more. */
  readonly attempts: number;
  /** The deadline that passed, in milliseconds. */
  readonly timeout: number;

  constructor(
    message: string,
    details: ErrorDetails & { readonly attempts: number; readonly timeout: number },
  ) {
    super(message, details);
    this.attempts = details.attempts;
    this.timeout = details.timeout;
  }
}

/** Is it a {@link LoadTimeoutError}, of this or another installed copy of tickless? Never throws. */
export function isLoadTimeoutError(error: unknown): error is LoadTimeoutError {
  return hasCode(error, 'ERR_TICKLESS_LOAD_TIMEOUT');
}

/**
 * There is no value, the last load failed, and the next one may not start yet. `cause` is the error of the last
 * load.
 */
export class CoolingDownError extends TicklessError {
  override readonly name: string = 'CoolingDownError';
  readonly code = 'ERR_TICKLESS_COOLING_DOWN';
  /** Milliseconds until the next load may start, over 0. */
  readonly retryAfter: number;

  constructor(message: string, details: ErrorDetails & { readonly retryAfter: number }) {
    super(message, details);
    this.retryAfter = details.retryAfter;
  }
}

/** Is it a {@link CoolingDownError}, of this or another installed copy of tickless? Never throws. */
export function isCoolingDownError(error: unknown): error is CoolingDownError {
  return hasCode(error, 'ERR_TICKLESS_COOLING_DOWN');
}

/**
 * The value is older than `maxStaleness`, and `whenTooStale` forbids to serve it. `cause` is the error of the last
 * load, if that failed. The value itself is still to be had from `peek()`.
 */
export class StaleValueError extends TicklessError {
  override readonly name: string = 'StaleValueError';
  readonly code = 'ERR_TICKLESS_STALE_VALUE';
  /** The age of the value in milliseconds. */
  readonly age: number;
  /** The limit that the age is over, in milliseconds. */
  readonly maxStaleness: number;

  constructor(
    message: string,
    details: ErrorDetails & { readonly age: number; readonly maxStaleness: number },
  ) {
    super(message, details);
    this.age = details.age;
    this.maxStaleness = details.maxStaleness;
  }
}

/** Is it a {@link StaleValueError}, of this or another installed copy of tickless? Never throws. */
export function isStaleValueError(error: unknown): error is StaleValueError {
  return hasCode(error, 'ERR_TICKLESS_STALE_VALUE');
}

/**
 * The source has no such key: the load of a `RefreshingCache` said `absent()`. The source is not asked for it again
 * for `absentFor`.
 */
export class AbsentError extends TicklessError {
  override readonly name: string = 'AbsentError';
  readonly code = 'ERR_TICKLESS_ABSENT';
  /** Milliseconds until the source may be asked again; 0 when it may be at once. */
  readonly retryAfter: number;

  constructor(message: string, details: ErrorDetails & { readonly retryAfter: number }) {
    super(message, details);
    this.retryAfter = details.retryAfter;
  }
}

/** Is it an {@link AbsentError}, of this or another installed copy of tickless? Never throws. */
export function isAbsentError(error: unknown): error is AbsentError {
  return hasCode(error, 'ERR_TICKLESS_ABSENT');
}

/** It was asked to start a load after `close()`, or the load that it waited for was aborted by `close()`. */
export class ClosedError extends TicklessError {
  override readonly name: string = 'ClosedError';
  readonly code = 'ERR_TICKLESS_CLOSED';
}

/** Is it a {@link ClosedError}, of this or another installed copy of tickless? Never throws. */
export function isClosedError(error: unknown): error is ClosedError {
  return hasCode(error, 'ERR_TICKLESS_CLOSED');
}

/**
 * The lock could not be asked: its engine can't be reached, did not answer in time, or refused the command (no
 * right, a column missing). `cause` is what its client said. That somebody else holds the lock is no error.
 */
export class LockUnavailableError extends TicklessError {
  override readonly name: string = 'LockUnavailableError';
  readonly code = 'ERR_TICKLESS_LOCK_UNAVAILABLE';
}

/** Is it a {@link LockUnavailableError}, of this or another installed copy of tickless? Never throws. */
export function isLockUnavailableError(error: unknown): error is LockUnavailableError {
  return hasCode(error, 'ERR_TICKLESS_LOCK_UNAVAILABLE');
}

/**
 * The lease ended while the load ran: this process stood still for too long, the engine could not be reached to
 * extend it, or an operator released it. Somebody else may hold the lock now; what the load brings is dropped.
 */
export class LeaseLostError extends TicklessError {
  override readonly name: string = 'LeaseLostError';
  readonly code = 'ERR_TICKLESS_LEASE_LOST';
  /** The fencing token of the lease that was lost. */
  readonly token: number;

  constructor(message: string, details: ErrorDetails & { readonly token: number }) {
    super(message, details);
    this.token = details.token;
  }
}

/** Is it a {@link LeaseLostError}, of this or another installed copy of tickless? Never throws. */
export function isLeaseLostError(error: unknown): error is LeaseLostError {
  return hasCode(error, 'ERR_TICKLESS_LEASE_LOST');
}

/** The snapshot store could not be read or written. `cause` is what its client said. */
export class StoreUnavailableError extends TicklessError {
  override readonly name: string = 'StoreUnavailableError';
  readonly code = 'ERR_TICKLESS_STORE_UNAVAILABLE';
}

/** Is it a {@link StoreUnavailableError}, of this or another installed copy of tickless? Never throws. */
export function isStoreUnavailableError(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'ERR_TICKLESS_STORE_UNAVAILABLE');
}
