import { errorJson } from './json.ts';
import { printable } from './printable.ts';

/**
 * The kind of an error. It never changes between versions.
 *
 * - `OPTION`: an option, an argument or the return value of a schedule is invalid. The message has each invalid option, its rule and the
 *   received value. Constructors throw it, with all invalid options at once.
 * - `NOT_LOADED`: there is no value yet, and the read does not wait for one: `current` before the first success, a read whose patience has
 *   ended, or any read of a paused value that was never loaded. `cause` is the error of the last load, if it failed. Use
 *   `await value.get()`, or `resume()` the value.
 * - `LOAD_FAILED`: a load or task failed, after all its `attempts`, or was ended by `cancel()`; or the function of `derive` threw. `cause`
 *   is the error of the last try, or the reason given to `cancel()`. First reads, `refresh()` and `execute()` reject with it; later reads
 *   serve the old value. The next read after the cool-down loads again.
 * - `TIMED_OUT`: an execution was aborted at its `timeout`; a later result of it is dropped. `cause` is the error of its last failed try,
 *   if a try failed. Raise `timeout` if the source is that slow, and pass the `signal` on to the source.
 * - `REFUSED`: a loaded value was refused by `schema` or `accept`, or a value given to `set` by `schema`. It was neither served nor
 *   published; the old value stays. A load that was refused has failed: the next one starts after the cool-down. `cause` is the error that
 *   the guard or the schema threw, if it did.
 * - `COOLING_DOWN`: there is no value, the last load failed (`cause`), and the next one may not start before `retryAt`.
 * - `TOO_STALE`: the value is older (`age`) than `maxStaleness`, and `whenTooStale` does not allow to serve it; or it is not younger than
 *   the `maxAge` of the read, and the reload failed or may not start. `cause` is the error of the last load, if it failed, or one with
 *   `PINNED`. `peek()` still returns the old value.
 * - `ABSENT`: the source has no such key: the load of a `RefreshingCache` returned `absent()`. Reads of the key reject without a load until
 *   `retryAt`. `set()` and `invalidate()` of the key end that.
 * - `PINNED`: a person has pinned the version in place (`rollback`): `refresh()` does not replace it, and `get({ maxAge })` waits for no
 *   younger one. `refresh({ unpin: true })` and `unpin()` end the pin.
 * - `BACKEND_DOWN`: the lock or the store could not be used: its backend cannot be reached, did not answer in time, or refused the command
 *   (no privilege, a missing column). `cause` is the error of its client. A lock that is held elsewhere is not an error. Each method that
 *   changes all instances documents whether the change applies here. A value that this instance loads is served here all the same.
 * - `LEASE_LOST`: the lease ended while the load ran: this process was suspended for too long, the backend could not be reached to extend
 *   the lease, or an operator released it. Another instance may hold the lock now, so the result of the load is dropped. It is also the
 *   reason of the load's `signal`.
 * - `CLOSED`: a load was requested after `close()`, or `close()` aborted the load that the caller waited for.
 */
export type ErrorCode =
  | 'OPTION'
  | 'NOT_LOADED'
  | 'LOAD_FAILED'
  | 'TIMED_OUT'
  | 'REFUSED'
  | 'COOLING_DOWN'
  | 'TOO_STALE'
  | 'ABSENT'
  | 'PINNED'
  | 'BACKEND_DOWN'
  | 'LEASE_LOST'
  | 'CLOSED';

/** The details of an error, beside its code and message. */
export type ErrorDetails = Pick<TicklessError, 'member' | 'key' | 'age' | 'attempts' | 'retryAt' | 'cause'>;

/**
 * The error of tickless: `code` says which one. A field is there only where its code has it. Compare with {@link isTicklessError},
 * which also works when two copies of tickless are installed, unlike `instanceof`.
 */
export class TicklessError extends Error {
  readonly code: ErrorCode;
  /** The `name` option of the value, cache, executor or group. */
  readonly member: string;
  /** The key, if the error concerns a single key of a `RefreshingCache`. */
  declare readonly key?: unknown;
  /** Of `TOO_STALE`: the age of the value in milliseconds. */
  declare readonly age?: number;
  /** Of `LOAD_FAILED` and `TIMED_OUT`: the number of calls of the load in this execution. 0: it was ended before the first one. */
  declare readonly attempts?: number;
  /** Of `COOLING_DOWN` and `ABSENT`: when the next load may start, in epoch milliseconds by the clock of the member. */
  declare readonly retryAt?: number;
  /** The underlying error: of the load, of the load before a cool-down, of the schedule, of a client. */
  declare readonly cause?: unknown;

  constructor(code: ErrorCode, message: string, { member, cause, ...details }: ErrorDetails) {
    super(
      `${subject(member, details.key)}: ${printable(message, LONGEST_MESSAGE)}`,
      cause === undefined ? undefined : { cause },
    );
    this.name = `TicklessError [${code}]`;
    void this.stack; // V8 writes its first line when it is first read
    this.name = 'TicklessError';
    this.code = code;
    this.member = member;
    for (const [name, detail] of Object.entries(details)) {
      if (detail !== undefined) Object.assign(this, { [name]: detail });
    }
  }

  /** For `JSON.stringify`: name, code, message, details, and the causes with their messages. Never throws. */
  toJSON(): object {
    return errorJson(this);
  }
}

/** The fields that each error with that code has. */
interface FieldsOf {
  TIMED_OUT: { readonly attempts: number };
  COOLING_DOWN: { readonly retryAt: number };
  TOO_STALE: { readonly age: number };
  ABSENT: { readonly retryAt: number };
}

/** Whether it is a {@link TicklessError}, with that code if one is given, of this or another installed copy of tickless. Never throws. */
export function isTicklessError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is TicklessError & { readonly code: C } & (C extends keyof FieldsOf ? FieldsOf[C] : unknown) {
  try {
    if (!(error instanceof Error)) return false;
    const { member, code: own } = error as Partial<TicklessError>;
    return typeof member === 'string' && (code === undefined ? typeof own === 'string' : own === code);
  } catch {
    return false; // a revoked proxy, or a getter threw
  }
}

/** The beginning of each message: the name, with the key if there is one. */
function subject(member: string, key: unknown): string {
  if (key === undefined) return showName(member);
  return showName(member) + (Array.isArray(key) ? showKey(key) : `[${showKey(key)}]`); // an array has its brackets
}

/** A name as messages and log lines show it. */
export function showName(member: string): string {
  return printable(member, LONGEST_NAME);
}

/** In characters. A message from outside in it is at most 1 kB long; those of invalid options are bounded by their number. */
const LONGEST_MESSAGE = 10_000;
const LONGEST_NAME = 200;

/** The message of an error without its subject, for a line that has the subject already. */
export function reasonOf(error: Error): string {
  if (!isTicklessError(error)) return error.message;
  const prefix = `${subject(error.member, error.key)}: `;
  return error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
}

/** The message of a failed load without the name of its member: several members fail for one cause. */
export function failureText(error: Error): string {
  return reasonOf(error).replace(/^load failed: /, '');
}

/** The name of the lock, and of the snapshot, of a key; different for each key. */
export function lockName(member: string, id: unknown): string {
  return `${member}[${typeof id === 'bigint' ? `${id}n` : show(id)}]`;
}

/** In characters. A key may be a whole request. */
const LONGEST_KEY = 80;

/** A key as messages show it: a string in quotes, an object as JSON, truncated to {@link LONGEST_KEY}. Never throws. */
export function showKey(key: unknown): string {
  return printable(show(key), LONGEST_KEY);
}

/** Any value for people. Never throws. */
export function show(value: unknown): string {
  try {
    if (typeof value === 'string') return JSON.stringify(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
    return typeof value === 'object' && value !== null ? beginningOf(value) : String(value);
  } catch {
    return tagOf(value); // circular, or a toJSON() threw
  }
}

/** The values inside an object that are shown: a message is cut off long before. */
const MOST_SHOWN = 1000;

/** As JSON. Beyond a bound values are left out: an object may be large, or hold another one in very many ways. */
function beginningOf(value: object): string {
  let count = 0;
  const text: string | undefined = JSON.stringify(value, (_, inner: unknown) => {
    count += 1;
    if (inner instanceof Promise) inner.catch(() => {}); // of an asynchronous toJSON()
    if (count > MOST_SHOWN) return undefined;
    return Array.isArray(inner) && inner.length > MOST_SHOWN ? inner.slice(0, MOST_SHOWN) : inner;
  });
  return text ?? tagOf(value); // a toJSON() without a result
}

function tagOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return 'a value that cannot be read'; // a proxy
  }
}
<<<<<<< HEAD

/** Whether it is an {@link OptionError}, of this or another installed copy of tickless. Never throws. */
export function isOptionError(error: unknown): error is OptionError {
  return hasCode(error, 'ERR_TICKLESS_OPTION');
}

/**
 * There is no value yet, and the read does not wait for one: `current` before the first success, or any read of a
 * paused value that was never loaded. `cause` is the error of the last load, if it failed. Use `await value.get()`, or
 * `resume()` the value.
 */
export class NotLoadedError extends TicklessError {
  override readonly name: string = 'NotLoadedError';
  readonly code = 'ERR_TICKLESS_NOT_LOADED';
}

/** Whether it is a {@link NotLoadedError}, of this or another installed copy of tickless. Never throws. */
export function isNotLoadedError(error: unknown): error is NotLoadedError {
  return hasCode(error, 'ERR_TICKLESS_NOT_LOADED');
}

/**
 * A load or task failed, after all its tries, or was ended by `cancel()`. `cause` is the error of the last try, or the
 * reason given to `cancel()`; `errors` are those of all tries. First reads, `refresh()` and `execute()` reject with it; later reads serve the old value.
 * The next read after the cool-down loads again.
 */
export class LoadError extends TicklessError {
  override readonly name: string = 'LoadError';
  readonly code = 'ERR_TICKLESS_LOAD';
  /** The number of calls of the load in this execution, 1 or more; 0 if it was cancelled before. */
  readonly attempts: number;
  readonly #errors: readonly unknown[];

  constructor(
    message: string,
    details: ErrorDetails & { readonly attempts: number; readonly errors?: readonly unknown[] },
  ) {
    super(message, details);
    this.attempts = details.attempts;
    this.#errors = details.errors ?? [];
  }

  /**
   * The thrown value of each try, in their order, `cause` last; of more than ten tries the last ten. Empty after `cancel()`. A log line
   * does not show them: `console.log(error.errors)`.
   */
  get errors(): readonly unknown[] {
    return this.#errors;
  }
}

/** Whether it is a {@link LoadError}, of this or another installed copy of tickless. Never throws. */
export function isLoadError(error: unknown): error is LoadError {
  return hasCode(error, 'ERR_TICKLESS_LOAD');
}

/**
 * An execution was aborted at its `timeout`; a later result of it is dropped. `cause` is the error of its last failed
 * try, if a try failed. Raise `timeout` if the source is that slow, and pass the `signal` on to the source.
 */
export class LoadTimeoutError extends TicklessError {
  override readonly name: string = 'LoadTimeoutError';
  readonly code = 'ERR_TICKLESS_LOAD_TIMEOUT';
  /** The number of calls of the load in this execution; 0: it still waited for its lease or its turn. */
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

/** Whether it is a {@link LoadTimeoutError}, of this or another installed copy of tickless. Never throws. */
export function isLoadTimeoutError(error: unknown): error is LoadTimeoutError {
  return hasCode(error, 'ERR_TICKLESS_LOAD_TIMEOUT');
}

/**
 * There is no value, the last load failed, and the next load has to wait for the end of the cool-down. `cause` is the
 * error of the last load. Read again after `retryAfter`.
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

/** Whether it is a {@link CoolingDownError}, of this or another installed copy of tickless. Never throws. */
export function isCoolingDownError(error: unknown): error is CoolingDownError {
  return hasCode(error, 'ERR_TICKLESS_COOLING_DOWN');
}

/**
 * The value is older than `maxStaleness`, and `whenTooStale` does not allow to serve it; or it is not younger than the
 * `maxAge` of the read, and the reload failed or may not start. `cause` is the error of the last load, if it failed, or a
 * `PinnedError`. `peek()` still returns the old value.
 */
export class StaleValueError extends TicklessError {
  override readonly name: string = 'StaleValueError';
  readonly code = 'ERR_TICKLESS_STALE_VALUE';
  /** The age of the value in milliseconds. */
  readonly age: number;
  /** The exceeded limit in milliseconds: `maxStaleness`, or `maxAge` of the read. */
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

/** Whether it is a {@link StaleValueError}, of this or another installed copy of tickless. Never throws. */
export function isStaleValueError(error: unknown): error is StaleValueError {
  return hasCode(error, 'ERR_TICKLESS_STALE_VALUE');
}

/**
 * A loaded value was refused by `schema` or `accept`, or a value given to `set` by `schema`. It was neither served nor
 * published; the old value stays. A load that was refused has failed: the next one starts after the cool-down. `cause` is
 * the error that the guard or the schema threw, if it did.
 */
export class ValueRejectedError extends TicklessError {
  override readonly name: string = 'ValueRejectedError';
  readonly code = 'ERR_TICKLESS_VALUE_REJECTED';
  /** Why it was refused, for people: one line of at most 1 kB, without control characters. */
  readonly reason: string;
  /** The size of the refused value: the number of its elements, or by the `sizeOf` of the guard. `undefined`: unknown. */
  readonly size: number | undefined;
  /** The size of the value that it would have replaced. `undefined`: unknown, or there was none. */
  readonly previousSize: number | undefined;

  constructor(details: ErrorDetails & Pick<ValueRejectedError, 'reason' | 'size' | 'previousSize'>) {
    const { size, previousSize } = details;
    const reason = printable(details.reason);
    const before = previousSize === undefined ? '' : `, before ${previousSize}`;
    super(`value rejected: ${reason}${size === undefined ? '' : ` (size ${size}${before})`}`, details);
    this.reason = reason;
    this.size = size;
    this.previousSize = previousSize;
  }
}

/** Whether it is a {@link ValueRejectedError}, of this or another installed copy of tickless. Never throws. */
export function isValueRejectedError(error: unknown): error is ValueRejectedError {
  return hasCode(error, 'ERR_TICKLESS_VALUE_REJECTED');
}

/**
 * The source has no such key: the load of a `RefreshingCache` returned `absent()`. Reads of the key reject with this
 * error for `absentFor`, without a load. `set()` and `invalidate()` of the key end that.
 */
export class AbsentError extends TicklessError {
  override readonly name: string = 'AbsentError';
  readonly code = 'ERR_TICKLESS_ABSENT';
  /** Milliseconds until a read of the key loads again; 0: the next read does. */
  readonly retryAfter: number;

  constructor(message: string, details: ErrorDetails & { readonly retryAfter: number }) {
    super(message, details);
    this.retryAfter = details.retryAfter;
  }
}

/** Whether it is an {@link AbsentError}, of this or another installed copy of tickless. Never throws. */
export function isAbsentError(error: unknown): error is AbsentError {
  return hasCode(error, 'ERR_TICKLESS_ABSENT');
}

/**
 * The function of `derive` threw, or returned a promise, and there is no result of earlier versions of the sources. `cause` is
 * what it threw. It is called again when a source is replaced.
 */
export class DeriveError extends TicklessError {
  override readonly name: string = 'DeriveError';
  readonly code = 'ERR_TICKLESS_DERIVE';
}

/** Whether it is a {@link DeriveError}, of this or another installed copy of tickless. Never throws. */
export function isDeriveError(error: unknown): error is DeriveError {
  return hasCode(error, 'ERR_TICKLESS_DERIVE');
}

/**
 * A person has pinned the version in place (`rollback`): `refresh()` does not replace it, and `get({ maxAge })` waits for no
 * younger one (the cause of its `StaleValueError`). `unpin()` ends the pin.
 */
export class PinnedError extends TicklessError {
  override readonly name: string = 'PinnedError';
  readonly code = 'ERR_TICKLESS_PINNED';
  /** The person, as given to `rollback`. */
  readonly by: string;
  /** The reason; `undefined`: none was given. */
  readonly note: string | undefined;
  /** When the pin ends by itself, in epoch milliseconds; `Infinity`: never. */
  readonly until: number;

  constructor(message: string, details: ErrorDetails & Pick<PinnedError, 'by' | 'note' | 'until'>) {
    super(message, details);
    this.by = details.by;
    this.note = details.note;
    this.until = details.until;
  }
}

/** Whether it is a {@link PinnedError}, of this or another installed copy of tickless. Never throws. */
export function isPinnedError(error: unknown): error is PinnedError {
  return hasCode(error, 'ERR_TICKLESS_PINNED');
}

/** A load was requested after `close()`, or `close()` aborted the load that the caller waited for. */
export class ClosedError extends TicklessError {
  override readonly name: string = 'ClosedError';
  readonly code = 'ERR_TICKLESS_CLOSED';
}

/** Whether it is a {@link ClosedError}, of this or another installed copy of tickless. Never throws. */
export function isClosedError(error: unknown): error is ClosedError {
  return hasCode(error, 'ERR_TICKLESS_CLOSED');
}

/**
 * The lock could not be used: its backend cannot be reached, did not answer in time, or refused the command (no
 * privilege, a missing column). `cause` is the error of its client. A lock that is held elsewhere is not an error.
 * `whenBackendDown` decides whether the load runs without the lock.
 */
export class LockUnavailableError extends TicklessError {
  override readonly name: string = 'LockUnavailableError';
  readonly code = 'ERR_TICKLESS_LOCK_UNAVAILABLE';
}

/** Whether it is a {@link LockUnavailableError}, of this or another installed copy of tickless. Never throws. */
export function isLockUnavailableError(error: unknown): error is LockUnavailableError {
  return hasCode(error, 'ERR_TICKLESS_LOCK_UNAVAILABLE');
}

/**
 * The lease ended while the load ran: this process was suspended for too long, the backend could not be reached to
 * extend the lease, or an operator released it. Another instance may hold the lock now, so the result of the load is
 * dropped. It is also the reason of the load's `signal`.
 */
export class LeaseLostError extends TicklessError {
  override readonly name: string = 'LeaseLostError';
  readonly code = 'ERR_TICKLESS_LEASE_LOST';
  /** The fencing token of the lost lease. */
  readonly token: number;

  constructor(message: string, details: ErrorDetails & { readonly token: number }) {
    super(message, details);
    this.token = details.token;
  }
}

/** Whether it is a {@link LeaseLostError}, of this or another installed copy of tickless. Never throws. */
export function isLeaseLostError(error: unknown): error is LeaseLostError {
  return hasCode(error, 'ERR_TICKLESS_LEASE_LOST');
}

/**
 * The snapshot store could not be read or written. `cause` is the error of its client. A value that this instance loads
 * is served here all the same.
 */
export class StoreUnavailableError extends TicklessError {
  override readonly name: string = 'StoreUnavailableError';
  readonly code = 'ERR_TICKLESS_STORE_UNAVAILABLE';
}

/** Whether it is a {@link StoreUnavailableError}, of this or another installed copy of tickless. Never throws. */
export function isStoreUnavailableError(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'ERR_TICKLESS_STORE_UNAVAILABLE');
}
=======
>>>>>>> next
