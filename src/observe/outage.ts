/** The lines of outages of one thing are at least this far apart, those of their ends and of the first refused read apart. */
const LINE_EVERY_MS = 60_000;

/** A key that could have been tried again for this long, and was not, is no longer read: its failure is of the past. In milliseconds. */
export const UNREAD_AFTER_MS = 60_000;

/** Beyond this many failing keys, the others are not remembered. */
const MAX_KEYS = 10_000;

/** A failure, as {@link Outage} counts it. */
export interface Failure {
  /** The identity of the key that failed; `undefined` for a thing without keys. */
  readonly id?: unknown;
  /** The part that failed, of a thing with parts. */
  readonly part?: string;
  /** When it is tried again at the earliest (monotonic). `Infinity`: the outage is over when it has succeeded, not before. */
  readonly retryAt: number;
}

/** An outage in numbers. */
export interface OutageSummary {
  /** Milliseconds since its first failure. */
  readonly lasted: number;
  readonly failures: number;
  /** How many keys failed at the same time, at most; 0 for a thing without keys. */
  readonly keys: number;
  /** How many reads were refused, also those of outages before that were too short for a line. */
  readonly refused: number;
}

/**
 * Decides what to log of the failures of one thing: a value, a task, all keys of one cache, the backend of a lock or
 * store. Reads no clock and has no timer: lines come with events. All instants are monotonic.
 *
 *  - The first failure, or refused read, begins an outage, and asks for a line. Further ones ask for one a minute after the last.
 *  - The first refused read asks for a line at once, unless the last line says already that reads are refused; once a minute.
 *  - The success of the only failing key ends it. So does the success of any key, once all failing keys could have been
 *    tried again for a minute: they are no longer read.
 *  - An outage that begins within a minute of the last line waits for the rest of that minute. One that ends before is
 *    never logged. So a thing that fails now and then has two lines a minute at most.
 */
export class Outage {
  #startedAt = 0;
  #failures = 0;
  #refused = 0;
  #mostKeys = 0;
  /** `undefined`: there is no outage. */
  #ids: Set<unknown> | undefined;
  #lastRetryAt = -Infinity;
  #isLogged = false;
  #isRefusing = false;
  /** The last line says that reads are refused. */
  #isRefusalLogged = false;
  #nextLineAt = -Infinity;
  #nextRefusalLineAt = -Infinity;

  /** The last failure was not followed by a success. */
  get isOpen(): boolean {
    return this.#ids !== undefined;
  }

  /** Reads were refused, and there was no success since. */
  get isRefusing(): boolean {
    return this.#isRefusing;
  }

  /** @returns whether to log a line. */
  failed(now: number, failure: Failure): boolean {
    this.#add(now, failure);
    this.#failures += 1;
    return this.#isLineDue(now);
  }

  /** Reads were refused. @returns whether to log a line. */
  refused(now: number, failure: Failure, times: number): boolean {
    this.#add(now, failure);
    this.#refused += times;
    this.#isRefusing = true;
    if (!this.#isRefusalLogged && now >= this.#nextRefusalLineAt) this.#nextLineAt = now;
    return this.#isLineDue(now);
  }

  /** A line says that reads are refused. */
  refusalLogged(now: number): void {
    this.#isRefusalLogged = true;
    this.#nextRefusalLineAt = now + LINE_EVERY_MS;
  }

  #add(now: number, { id, part, retryAt }: Failure): void {
    if (this.#ids === undefined) {
      this.#startedAt = now;
      this.#ids = new Set();
    }
    this.#lastRetryAt = Math.max(this.#lastRetryAt, retryAt);
    if (this.#ids.size < MAX_KEYS) this.#ids.add(part ?? id);
    if (id !== undefined) this.#mostKeys = Math.max(this.#mostKeys, this.#ids.size);
  }

  #isLineDue(now: number): boolean {
    if (now < this.#nextLineAt) return false;
    this.#nextLineAt = now + LINE_EVERY_MS;
    this.#isLogged = true;
    return true;
  }

  /** @returns the outage that this ends, if a line was logged of it. */
  succeeded(now: number, id?: unknown): OutageSummary | undefined {
    if (this.#ids === undefined) return undefined;
    this.#ids.delete(id);
    const isOver = this.#ids.size === 0 || now - this.#lastRetryAt >= UNREAD_AFTER_MS;
    if (!isOver) return undefined;
    const summary = this.#isLogged ? this.at(now) : undefined;
    this.#ids = undefined;
    this.#failures = this.#mostKeys = 0;
    if (this.#isLogged) this.#refused = 0;
    this.#lastRetryAt = -Infinity;
    this.#isLogged = this.#isRefusing = this.#isRefusalLogged = false;
    return summary;
  }

  at(now: number): OutageSummary {
    const [lasted, failures, keys, refused] = [
      now - this.#startedAt,
      this.#failures,
      this.#mostKeys,
      this.#refused,
    ];
    return { lasted, failures, keys, refused };
  }
}
