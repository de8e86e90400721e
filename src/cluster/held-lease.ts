import type { Clock, Timer } from '../time/clock.ts';
import { setSharedTimeout } from '../time/shared-timer.ts';
import { withStepTimeout } from './backend-access.ts';
import type { LeaseId, LockProvider, ReleaseOutcome } from './lock-contract.ts';

/** The pause after the first release that failed; each further one is twice as long, up to the longest. */
const RELEASE_PAUSE_MS = 100;
const LONGEST_RELEASE_PAUSE_MS = 1000;

/** An extension may come earlier by this part of the lease, together with those of other leases. */
const EARLY = 0.1;

/** The lock of a lease. */
interface LeaseHome {
  readonly steps: Pick<LockProvider, 'extend' | 'release'>;
  /** How long an extension or a release may take, in milliseconds. No reader waits for it. */
  readonly backgroundTimeoutMs: number;
}

/** How a lease was lost. */
export type LossReason = 'expired' | 'taken' | 'unreachable';

/**
 * A lease that this process holds.
 *
 * It is valid for `leaseFor` from before it was asked for, by this machine's monotonic clock, so never longer than at the
 * backend. Code that relies on it checks {@link isLost} first: after a pause of the process no other code may have run.
 * It is extended whenever a third of its length has passed between {@link renew} and {@link stop}, and at no other time; or
 * up to a tenth of its length earlier, with other leases: so leases that were acquired at different times come to share
 * their extensions, at most three times in a third.
 */
export class HeldLease {
  readonly id: LeaseId;
  readonly #source: LeaseHome;
  readonly #clock: Clock;
  readonly #leaseFor: number;
  #validUntil: number;
  #timer: Timer | undefined;
  #deadline: Timer | undefined;
  #isLost = false;
  #isTaken = false;
  #isEnded = false;
  #isReleased = false;
  #extendError: unknown;

  /** @param validUntil until when it lasts at least (monotonic). */
  constructor(source: LeaseHome, id: LeaseId, validUntil: number, clock: Clock, leaseFor: number) {
    this.id = id;
    this.#source = source;
    this.#clock = clock;
    this.#leaseFor = leaseFor;
    this.#validUntil = validUntil;
  }

  get token(): number {
    return this.id.token;
  }

  /** It has ended, or may have ended. */
  get isLost(): boolean {
    return this.#isLost || this.leftMs <= 0;
  }

  /** The lock has answered that it is over: it has expired there, was released by an operator, or is forgotten. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** It is not known to be over. */
  get mayBeHeld(): boolean {
    return !this.#isReleased && !this.#isTaken && !this.isLost;
  }

  /** How long it is still valid, in milliseconds. */
  get leftMs(): number {
    return this.#validUntil - this.#clock.monotonic();
  }

  /**
   * Extends it from now on.
   *
   * @param lost called once if it ends meanwhile.
   * @param until it never lasts longer than until that instant (monotonic). @default for ever
   */
  renew(lost: (reason: LossReason, cause: unknown) => void, until: number = Infinity): void {
    let isExtending = false;
    const lose = (reason: LossReason): void => {
      this.#isLost = true;
      this.#cancelTimers();
      lost(reason, this.#extendError);
    };
    const check = (): void => {
      if (this.#isEnded) return;
      if (this.isLost) {
        lose(isExtending || this.#extendError !== undefined ? 'unreachable' : 'expired');
        return;
      }
      const sentAt = this.#clock.monotonic();
      const leaseFor = Math.min(this.#leaseFor, until - sentAt);
      if (sentAt + leaseFor <= this.#validUntil + 1) {
        checkAtEnd(); // it lasts until then
        return;
      }
      isExtending = true;
      checkAtEnd(); // the answer may never come
      this.#withStepTimeout('extend', (lock) => lock.extend(this.id, leaseFor)).then(
        (isExtended) => {
          isExtending = false;
          this.#extendError = undefined;
          this.#isTaken ||= !isExtended;
          if (this.#isEnded) return;
          if (!isExtended) {
            lose('taken');
            return;
          }
          if (!this.isLost) this.#validUntil = Math.max(this.#validUntil, sentAt + leaseFor);
          checkInTime();
        },
        (error) => {
          isExtending = false;
          this.#extendError = error;
          if (!this.#isEnded) checkAfter(this.#leaseFor / 3);
        },
      );
    };
    const checkAtEnd = (): void => {
      this.#timer?.cancel();
      this.#timer = this.#clock.setTimeout(check, Math.max(0, this.leftMs));
    };
    /** Checks it after `ms` milliseconds, but no later than it expires. */
    const checkAfter = (ms: number): void => {
      this.#timer?.cancel();
      const delayMs = Math.max(0, Math.min(ms, this.leftMs));
      this.#timer = setSharedTimeout(this.#clock, check, delayMs, this.#leaseFor * EARLY);
    };
    /** Checks it when two thirds of it are left; at once if an answer came late and less is left. */
    const checkInTime = (): void => checkAfter(this.leftMs - (2 * this.#leaseFor) / 3);
    checkInTime();
  }

  /** Extends it until that instant (monotonic) at most. @param over as of {@link stop}. */
  renewUntil(instant: number, over: () => void): void {
    if (this.#isEnded) return;
    const left = Math.max(0, instant - this.#clock.monotonic());
    this.#deadline = this.#clock.setTimeout(() => this.stop(over), left);
  }

  /** Stops extending it. @param over called when it has expired, unless {@link release} comes first. */
  stop(over?: () => void): void {
    this.#cancelTimers();
    this.#isEnded = true;
    if (over === undefined) return;
    const expire = (): void => {
      this.#cancelTimers();
      over();
    };
    this.#timer = this.#clock.setTimeout(expire, Math.max(0, this.leftMs));
  }

  /**
   * Releases it. A release that fails is tried again behind, while the lease lasts; then the lease is left to expire.
   * Never rejects.
   *
   * @param over called when it is released, or has expired.
   * @returns whether it was released at once: it was still held here, and the lock answered.
   */
  async release(outcome: () => ReleaseOutcome, over: () => void = () => {}): Promise<boolean> {
    this.#cancelTimers();
    this.#isEnded = true;
    if (this.isLost) {
      over();
      return false;
    }
    try {
      const isReleased = await this.#withStepTimeout('release', (lock) => lock.release(this.id, outcome()));
      this.#isTaken ||= !isReleased;
      this.#isReleased = true;
      over();
      return isReleased;
    } catch {
      void this.#releaseLater(outcome).then(over);
      return false;
    }
  }

  /** It was released in another step. */
  released(): void {
    this.stop();
    this.#isReleased = true;
  }

  /** The answer to another step shows that it is over. */
  taken(): void {
    this.stop();
    this.#isTaken = this.#isLost = true;
  }

  #withStepTimeout<R>(name: string, step: (lock: LeaseHome['steps']) => Promise<R>): Promise<R> {
    const { steps, backgroundTimeoutMs } = this.#source;
    return withStepTimeout(() => step(steps), this.#clock, backgroundTimeoutMs, name);
  }

  /** And forgets them, and with them the load that they would end: a lease that is over is known for a while. */
  #cancelTimers(): void {
    this.#timer?.cancel();
    this.#deadline?.cancel();
    this.#timer = undefined;
    this.#deadline = undefined;
  }

  async #releaseLater(outcome: () => ReleaseOutcome): Promise<void> {
    for (let pause = RELEASE_PAUSE_MS; !this.isLost; pause = Math.min(2 * pause, LONGEST_RELEASE_PAUSE_MS)) {
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, Math.min(pause, this.leftMs)));
      if (this.isLost) return;
      try {
        await this.#withStepTimeout('release', (lock) => lock.release(this.id, outcome()));
        this.#isReleased = true;
        return;
      } catch {
        // tries again while it lasts
      }
    }
  }
}
