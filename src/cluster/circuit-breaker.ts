/** A backend that has answered within this time is trusted to answer again. */
const TRUSTED_FOR_MS = 1000;

/** This many doubtful failures, with no success between them, prove an outage. */
const MAX_DOUBTS = 3;

/** The pause after the failure that begins an outage; each failed probe doubles it, up to the longest. */
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;

/** The time in which a backend does not answer. Instants are monotonic. */
export interface BackendOutage {
  readonly startedAt: number;
  /** When it answered again; `undefined`: not yet. */
  endedAt: number | undefined;
  /** Of its first failure. */
  readonly cause: unknown;
}

/** A step that has failed. */
export interface FailedStep {
  /** It began after a pause, when the backend was known to be down: the next pause is longer. */
  readonly isProbe: boolean;
  readonly isWrite: boolean;
}

/**
 * Remembers whether a backend answers. After a failure the backend rests: it is not asked for a while, or each member and
 * each key would wait for it one by one. The pauses grow from 1 to 30 seconds. All instants are monotonic.
 */
export class CircuitBreaker {
  /** Why the backend could not be asked the last time; `undefined`: it answered. */
  cause: unknown = undefined;
  #outage: BackendOutage | undefined;
  #doubts = 0;
  #restMs = FIRST_REST_MS;
  #restsUntil: number = Number.NEGATIVE_INFINITY;
  #writesRestUntil: number = Number.NEGATIVE_INFINITY;
  #answeredAt: number = Number.NEGATIVE_INFINITY;

  /** The backend could not be asked the last time. */
  get isBroken(): boolean {
    return this.#outage !== undefined;
  }

  /** The present outage; each is an object of its own. */
  get outage(): BackendOutage | undefined {
    return this.#outage;
  }

  /**
   * How long the backend is not to be asked, in milliseconds; 0: it may be asked.
   *
   * @param isWrite a write rests only after a failed write. A snapshot that is not written now is lost, and another
   * instance loads the same round again; one lost reply to a read does not justify that.
   */
  restsFor(now: number, isWrite: boolean = false): number {
    const restsUntil = isWrite ? this.#writesRestUntil : this.#restsUntil;
    return this.isBroken ? Math.max(0, restsUntil - now) : 0;
  }

  /** It has answered a moment ago: many callers may ask at a time. */
  isTrusted(now: number): boolean {
    return !this.isBroken && now - this.#answeredAt < TRUSTED_FOR_MS;
  }

  succeeded(now: number): void {
    if (this.#outage !== undefined) this.#outage.endedAt = now;
    this.#outage = undefined;
    this.#doubts = 0;
    this.cause = undefined;
    this.#answeredAt = now;
  }

  failed(cause: unknown, now: number, { isProbe, isWrite }: FailedStep): void {
    if (this.#outage === undefined) {
      this.#outage = { startedAt: now, endedAt: undefined, cause };
      this.#restMs = FIRST_REST_MS;
      this.#writesRestUntil = Number.NEGATIVE_INFINITY;
    } else if (isProbe) this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS);
    this.#doubts = 0;
    this.cause = cause;
    this.#restsUntil = now + this.#restMs;
    if (isWrite) this.#writesRestUntil = this.#restsUntil;
  }

  /**
   * A step has failed that may be at fault itself: the backend is asked by one caller at a time until it answers.
   *
   * @returns whether that still proves nothing.
   */
  doubted(): boolean {
    this.#answeredAt = Number.NEGATIVE_INFINITY;
    this.#doubts += 1;
    return this.#doubts < MAX_DOUBTS;
  }
}
