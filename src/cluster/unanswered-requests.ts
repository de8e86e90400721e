import type { Clock } from '../time/clock.ts';
import { acquireLease, type LeaseSource } from './acquire-lease.ts';
import { endOfUnused, type PendingRequest } from './pending-request.ts';

/**
 * The requests of one member for leases that have no answer. Each may have been carried out, and its lease would have no
 * holder until it expires.
 */
export class UnansweredRequests {
  readonly #names: Map<PendingRequest, string> = new Map();
  readonly #clock: Clock;
  readonly #leaseFor: number;

  constructor(clock: Clock, leaseFor: number) {
    this.#clock = clock;
    this.#leaseFor = leaseFor;
  }

  /** A call for this name has ended. */
  note(request: PendingRequest, name: string): void {
    if (request.isAnswered) this.#names.delete(request);
    else {
      this.#forgetExpired();
      this.#names.set(request, name);
    }
  }

  /**
   * Gives back the leases of these requests: each is sent once more, which gives its lease if it was carried out. Never
   * rejects. A lock that does not answer within its time-out is left: its leases expire.
   */
  async giveBack(source: LeaseSource): Promise<void> {
    this.#forgetExpired();
    const unanswered = [...this.#names];
    this.#names.clear();
    await Promise.all(
      unanswered.map(async ([request, name]) => {
        try {
          const wanted = { name, leaseFor: this.#leaseFor, force: false };
          const { answer } = await acquireLease(source, wanted, request, this.#clock, { tries: 1 });
          if (answer.kind === 'acquired')
            await answer.held.release(() => endOfUnused(answer.isForced || answer.tookOver, source));
        } catch {
          // the lock is down
        }
      }),
    );
  }

  #forgetExpired(): void {
    const oldest = this.#clock.monotonic() - this.#leaseFor;
    for (const request of this.#names.keys()) {
      const { sentAt } = request;
      if (sentAt === undefined || sentAt < oldest) this.#names.delete(request);
    }
  }
}
