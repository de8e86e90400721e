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
 * - `TOO_STALE`: the value is older (`age`) than `maxStaleness`, of the member, of its load or of the read, and the reload failed or may
 *   not start. `cause` is the error of the last load, if it failed, or one with `PINNED`. `peek()` still returns the old value.
 * - `ABSENT`: the source has no such key: the load of a `RefreshingCache` returned `absent()`. Reads of the key reject without a load until
 *   `retryAt`. `set()` and `invalidate()` of the key end that.
 * - `PINNED`: a person has pinned the version in place (`rollback`): `refresh()` does not replace it, and `get({ maxStaleness })` waits for no
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
  /** Of `COOLING_DOWN` and `ABSENT`: when the next load may start, in epoch milliseconds by the wall clock of this machine. */
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
