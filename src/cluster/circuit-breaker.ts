/** A backend that has answered within this time is trusted to answer again. */
const TRUSTED_FOR_MS = 1000;

/** This many inconclusive failures, with no success between them, prove an outage. */
const MAX_INCONCLUSIVE = 3;

/** How long the breaker is open after the failure that begins an outage; each failed probe doubles it, up to the longest. */
const FIRST_OPEN_MS = 250;
const LONGEST_OPEN_MS = 4000;

/** The time in which a backend does not answer. Instants are monotonic. */
export interface BackendOutage {
  readonly startedAt: number;
  /** When it answered again; `undefined`: not yet. */
  endedAt: number | undefined;
  /** Of its first failure. */
  readonly cause: unknown;
  /** Called in a microtask after its end: those that have reported its beginning report it. They must not throw. */
  readonly onEnd: (() => void)[];
}

/** A step that has failed. */
export interface FailedStep {
  /** It began after a pause, when the backend was known to be down: the next pause is longer. */
  readonly isProbe: boolean;
  readonly isWrite: boolean;
}

/**
 * Remembers whether a backend answers. A failure opens the breaker: the backend is not asked for a while, or each member
 * and each key would wait for it one by one. It is open for a quarter of a second at first, then up to 4 seconds; after that it is
 * half-open: one caller probes the backend. Any answer closes it, also one to a step that no caller waits for any longer.
 * All instants are monotonic.
 */
export class CircuitBreaker {
  /** Why the backend could not be asked the last time; `undefined`: it answered. */
  cause: unknown = undefined;
  #outage: BackendOutage | undefined;
  #inconclusive = 0;
  #openMs = FIRST_OPEN_MS;
  #openUntil: number = -Infinity;
  #openForWritesUntil: number = -Infinity;
  #answeredAt: number = -Infinity;

  /** The backend could not be asked the last time: the breaker is open or half-open. */
  get isTripped(): boolean {
    return this.#outage !== undefined;
  }

  /** The present outage; each is an object of its own. */
  get outage(): BackendOutage | undefined {
    return this.#outage;
  }

  /**
   * How long the breaker stays open, in milliseconds; 0: it is half-open or closed, and the backend may be asked.
   *
   * @param isWrite for a write it is open only after a failed write. A snapshot that is not written now is lost, and
   * another instance loads the same round again; one lost reply to a read does not justify that.
   */
  openFor(now: number, isWrite: boolean = false): number {
    const openUntil = isWrite ? this.#openForWritesUntil : this.#openUntil;
    return this.#outage !== undefined ? Math.max(0, openUntil - now) : 0;
  }

  /** It has answered a moment ago: many callers may ask at a time. */
  isTrusted(now: number): boolean {
    return this.#outage === undefined && now - this.#answeredAt < TRUSTED_FOR_MS;
  }

  succeeded(now: number): void {
    const outage = this.#outage;
    if (outage !== undefined) {
      outage.endedAt = now;
      queueMicrotask(() => {
        for (const tell of outage.onEnd) tell();
      });
    }
    this.#outage = undefined;
    this.#inconclusive = 0;
    this.cause = undefined;
    this.#answeredAt = now;
  }

  failed(cause: unknown, now: number, { isProbe, isWrite }: FailedStep): void {
    if (this.#outage === undefined) {
      this.#outage = { startedAt: now, endedAt: undefined, cause, onEnd: [] };
      this.#openMs = FIRST_OPEN_MS;
      this.#openForWritesUntil = -Infinity;
    } else if (isProbe) this.#openMs = Math.min(2 * this.#openMs, LONGEST_OPEN_MS);
    this.#inconclusive = 0;
    this.cause = cause;
    this.#openUntil = now + this.#openMs;
    if (isWrite) this.#openForWritesUntil = this.#openUntil;
  }

  /**
   * A step has failed that may be at fault itself: the backend is asked by one caller at a time until it answers.
   *
   * @returns whether that still proves nothing.
   */
  failedInconclusively(): boolean {
    this.#answeredAt = -Infinity;
    this.#inconclusive += 1;
    return this.#inconclusive < MAX_INCONCLUSIVE;
  }
}
