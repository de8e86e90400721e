/** The lines of outages of one thing are at least this far apart, those of their ends apart. */
const LINE_EVERY_MS = 60_000;

/** Beyond this many failing keys, the others are not remembered. */
const MAX_KEYS = 10_000;

/** A failure, as {@link Outage} counts it. */
export interface Failure {
  /** The identity of the key that failed; `undefined` for a thing without keys. */
  readonly id?: unknown;
  /** When it is tried again at the earliest (monotonic). */
  readonly retryAt: number;
  /** A caller got the error: it needs no line. */
  readonly reachedCaller?: boolean;
  /** The kind of its cause. */
  readonly kind?: string;
}

/** An outage in numbers. */
export interface OutageSummary {
  /** Milliseconds since its first failure. */
  readonly lasted: number;
  readonly failures: number;
  /** How many keys failed at the same time, at most; 0 for a thing without keys. */
  readonly keys: number;
}

/**
 * Decides what to log of the failures of one thing: a value, a task, all keys of one cache, the backend of a lock or
 * store. Reads no clock and has no timer: lines come with events. All instants are monotonic.
 *
 *  - The first failure begins an outage, and asks for a line. Further failures ask for one a minute after the last, and at once
 *    where their cause is of another kind than in the last line; once a minute.
 *  - The success of the only failing key ends it. So does the success of any key, once all failing keys could have been
 *    tried again for a minute: they are no longer read.
 *  - An outage that begins within a minute of the last line waits for the rest of that minute. One that ends before is
 *    never logged. So a thing that fails now and then has two lines a minute at most.
 *  - A failure that a caller got asks for no line. It is counted.
 */
export class Outage {
  #startedAt = 0;
  #failures = 0;
  #mostKeys = 0;
  #ids: Set<unknown> | undefined;
  #lastRetryAt = -Infinity;
  #isLogged = false;
  #nextLineAt = -Infinity;
  #nextChangeAt = -Infinity;
  /** Of the cause in the last line. */
  #kind: string | undefined;

  /** The last failure was not followed by a success. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }

  /** @returns whether to log a line. */
  failed(now: number, { id, retryAt, reachedCaller = false, kind }: Failure): boolean {
    if (!this.isOpen) {
      this.#startedAt = now;
      this.#ids = new Set();
    }
    this.#failures += 1;
    this.#lastRetryAt = Math.max(this.#lastRetryAt, retryAt);
    const ids = this.#ids as Set<unknown>;
    if (ids.size < MAX_KEYS) ids.add(id);
    if (id !== undefined) this.#mostKeys = Math.max(this.#mostKeys, ids.size);
    if (reachedCaller) return false;
    const isChange = now < this.#nextLineAt;
    if (isChange && (!this.#isLogged || kind === this.#kind || now < this.#nextChangeAt)) return false;
    if (isChange) this.#nextChangeAt = now + LINE_EVERY_MS;
    else this.#nextLineAt = now + LINE_EVERY_MS;
    this.#kind = kind;
    this.#isLogged = true;
    return true;
  }

  /** @returns the outage that this ends, if a line was logged of it. */
  succeeded(now: number, id?: unknown): OutageSummary | undefined {
    if (!this.isOpen) return undefined;
    this.#ids?.delete(id);
    const isOver = this.#ids?.size === 0 || now - this.#lastRetryAt >= LINE_EVERY_MS;
    if (!isOver) return undefined;
    const summary = this.#isLogged ? this.at(now) : undefined;
    this.#failures = this.#mostKeys = 0;
    this.#ids = undefined;
    this.#lastRetryAt = -Infinity;
    this.#isLogged = false;
    return summary;
  }

  at(now: number): OutageSummary {
    return { lasted: now - this.#startedAt, failures: this.#failures, keys: this.#mostKeys };
  }
}
