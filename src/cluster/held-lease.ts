import type { Clock, Timer } from '../time/clock.ts';
import { asked } from './asked.ts';
import type { LeaseId, LockProvider, ReleaseOutcome } from './lock-contract.ts';

/** The pause after the first release that failed; each further one is twice as long, up to the longest. */
const RELEASE_PAUSE_MS = 100;
const LONGEST_RELEASE_PAUSE_MS = 1000;

/** How a lease ended without its holder. */
export type LossReason = 'expired' | 'taken' | 'unreachable';

/**
 * A lease that this process holds.
 *
 * It is valid for `leaseFor` from before it was asked for, by this machine's monotonic clock, so never longer than the
 * engine thinks. Whoever is about to rely on it asks {@link isLost} first: after a pause of the process nothing else
 * may run before. It is extended whenever a third of its length is over between {@link keep} and {@link stop}, and at no
 * other time.
 */
export class HeldLease {
  readonly id: LeaseId;
  readonly #lock: LockProvider;
  readonly #clock: Clock;
  readonly #leaseFor: number;
  #validUntil: number;
  #timer: Timer | undefined;
  #deadline: Timer | undefined;
  #isLost = false;
  #isEnded = false;
  #trouble: unknown;

  /** @param validUntil until when it lasts at least (monotonic). */
  constructor(lock: LockProvider, id: LeaseId, validUntil: number, clock: Clock, leaseFor: number) {
    this.id = id;
    this.#lock = lock;
    this.#clock = clock;
    this.#leaseFor = leaseFor;
    this.#validUntil = validUntil;
  }

  /** It has ended, or must be taken to have. */
  get isLost(): boolean {
    return this.#isLost || this.#left <= 0;
  }

  /** Milliseconds for which it is valid still. */
  get #left(): number {
    return this.#validUntil - this.#clock.monotonic();
  }

  /** Extends it from now on. @param lost called once, should it end meanwhile. */
  keep(lost: (reason: LossReason, cause: unknown) => void): void {
    let isAsking = false;
    const lose = (reason: LossReason): void => {
      this.#isLost = true;
      lost(reason, this.#trouble);
    };
    const look = (): void => {
      if (this.#isEnded) return;
      if (this.isLost) {
        lose(isAsking || this.#trouble !== undefined ? 'unreachable' : 'expired');
        return;
      }
      const sentAt = this.#clock.monotonic();
      isAsking = true;
      lookAfter(Infinity); // the answer may never come
      asked(() => this.#lock.extend(this.id, this.#leaseFor), this.#clock).then(
        (isExtended) => {
          isAsking = false;
          this.#trouble = undefined;
          if (this.#isEnded) return;
          if (!isExtended) {
            lose('taken');
            return;
          }
          if (!this.isLost) this.#validUntil = Math.max(this.#validUntil, sentAt + this.#leaseFor);
          lookInTime();
        },
        (error) => {
          isAsking = false;
          this.#trouble = error;
          if (!this.#isEnded) lookAfter(this.#leaseFor / 3);
        },
      );
    };
    /** In so many milliseconds, but no later than it expires. */
    const lookAfter = (ms: number): void => {
      this.#timer?.cancel();
      this.#timer = this.#clock.setTimeout(look, Math.max(0, Math.min(ms, this.#left)));
    };
    /** When two thirds of it are left; at once, where an answer came late and less is. */
    const lookInTime = (): void => lookAfter(this.#left - (2 * this.#leaseFor) / 3);
    lookInTime();
  }

  /** Extends it until that instant (monotonic) at most. @param over as of {@link stop}. */
  keepUntil(instant: number, over: () => void): void {
    if (instant === Infinity || this.#isEnded) return;
    const left = Math.max(0, instant - this.#clock.monotonic());
    this.#deadline = this.#clock.setTimeout(() => this.stop(over), left);
  }

  /** Extends it no longer. @param over called when it has expired, unless {@link release} comes first. */
  stop(over?: () => void): void {
    this.#cancelTimers();
    this.#isEnded = true;
    if (over === undefined) return;
    this.#timer = this.#clock.setTimeout(over, Math.max(0, this.#left));
  }

  /**
   * Gives it back. Where that fails it is tried again behind, while the lease lasts, and then left to expire. Never
   * rejects.
   *
   * @returns whether it was given back at once: it was still ours, and the engine could be asked.
   */
  async release(outcome: () => ReleaseOutcome): Promise<boolean> {
    this.#cancelTimers();
    this.#isEnded = true;
    if (this.isLost) return false;
    try {
      return await asked(() => this.#lock.release(this.id, outcome()), this.#clock);
    } catch {
      void this.#releaseLater(outcome);
      return false;
    }
  }

  #cancelTimers(): void {
    this.#timer?.cancel();
    this.#deadline?.cancel();
  }

  async #releaseLater(outcome: () => ReleaseOutcome): Promise<void> {
    for (let pause = RELEASE_PAUSE_MS; !this.isLost; pause = Math.min(2 * pause, LONGEST_RELEASE_PAUSE_MS)) {
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, Math.min(pause, this.#left)));
      if (this.isLost) return;
      try {
        await asked(() => this.#lock.release(this.id, outcome()), this.#clock);
        return;
      } catch {
        // once more, while it lasts
      }
    }
  }
}
