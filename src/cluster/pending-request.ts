import type { Clock } from '../time/clock.ts';
import { HeldLease } from './held-lease.ts';
import { randomId } from './identity.ts';
import type { AcquireAnswer, LockProvider, ReleaseOutcome } from './lock-contract.ts';

/** A request for a lease without an answer. It may have been carried out. */
interface UnansweredRequest {
  readonly id: string;
  /** When it was sent for the first time (monotonic): its lease began no earlier. */
  readonly sentAt: number;
  /** It ignores the hold of a round that is done. */
  isForced: boolean;
  /** Of the lease that its first answer has given. */
  token?: number | undefined;
}

/** Where the lease of a late answer is given back. */
interface LateLeaseHome {
  readonly steps: Pick<LockProvider, 'extend' | 'release'>;
  readonly backgroundTimeoutMs: number;
  /**
   * The end of a lease that no call waits for, if its request may have ended a hold: that may be the hold of a pinned version.
   * @default any instance may begin at once
   */
  readonly forcedEnd?: ReleaseOutcome | undefined;
}

/**
 * The request for the lease of one name, as long as it has no answer.
 *
 * Sent again, it gives the same lease. So a lease whose answer is late has one of two ends:
 *
 *  1. the request has been sent again meanwhile: that call gets the same lease and uses it;
 *  2. no call waits for it: the lease has no holder, and is given back as soon as its answer comes.
 */
export class PendingRequest {
  #request: UnansweredRequest | undefined;
  /** How many calls wait for its answer. */
  #waiting = 0;

  /** There is none. */
  get isAnswered(): boolean {
    return this.#request === undefined;
  }

  /** When the request without an answer was first sent (monotonic); `undefined`: there is none. */
  get sentAt(): number | undefined {
    return this.#request?.sentAt;
  }

  /** A call begins to wait: for the request without an answer, or for a new one. */
  begin(now: number, force: boolean): UnansweredRequest {
    if (this.#request === undefined) {
      this.#request = { id: randomId(), sentAt: now, isForced: force };
      this.#waiting = 0;
    }
    const request = this.#request;
    request.isForced ||= force;
    this.#waiting += 1;
    return request;
  }

  answered(request: UnansweredRequest, answer: AcquireAnswer): void {
    if (this.#request === request) this.#request = undefined;
    request.token = answer.kind === 'acquired' ? answer.lease.token : undefined;
  }

  /** A call stops waiting. */
  gaveUp(request: UnansweredRequest): void {
    if (this.#request === request) this.#waiting -= 1;
  }

  /**
   * The answer has come after its call, sent at `sentAt` (monotonic), gave up; or it is the second one, of a request that was
   * sent twice: its lease is another one if the first had been released by then.
   */
  answeredLate(
    request: UnansweredRequest,
    sentAt: number,
    answer: AcquireAnswer,
    home: LateLeaseHome,
    clock: Clock,
  ): void {
    if (this.#request === request) {
      if (this.#waiting > 0) return;
      this.#request = undefined;
    } else if (answer.kind !== 'acquired' || answer.lease.token <= (request.token ?? 0)) return;
    if (answer.kind !== 'acquired') return;
    const { remaining, ...id } = answer.lease;
    const lease = new HeldLease(home, id, sentAt + remaining, clock, remaining);
    const endsHold = request.isForced || answer.tookOver;
    void lease.release(() => endOfUnused(endsHold, home)); // tried again behind, while it lasts
  }
}

/** The end of a lease that is not used. @param endsHold it has ignored the hold of a round, or has taken over from a holder that may have begun one. */
export function endOfUnused(
  endsHold: boolean,
  { forcedEnd }: Pick<LateLeaseHome, 'forcedEnd'>,
): ReleaseOutcome {
  return (endsHold ? forcedEnd : undefined) ?? { as: 'abandoned' };
}
