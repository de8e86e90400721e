import type { Clock } from '../time/clock.ts';
import { randomId } from './identity.ts';
import type { AcquireAnswer } from './lock-contract.ts';

/** A request for a lease. */
export interface LeaseRequest {
  readonly id: string;
  /** When it was sent for the first time (monotonic): its lease began no earlier. */
  readonly sentAt: number;
  /** How many calls wait for its answer. */
  waiting: number;
  /** Of the lease that its first answer has given. */
  token: number;
}

/**
 * The requests for leases that have no answer, by name: one that is sent again with the same id gives the same lease. A lease whose answer is
 * late is used by the call that has sent it again; where no call waits, it has no holder, and is given back.
 */
export class LeaseRequests {
  readonly #unanswered: Map<string, LeaseRequest> = new Map();
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #leaseFor: number;

  /** @param leaseFor after this time there is no lease to be given back. */
  constructor(clock: Pick<Clock, 'monotonic'>, leaseFor: number = Infinity) {
    this.#clock = clock;
    this.#leaseFor = leaseFor;
  }

  /** The names of those whose leases may last. */
  get names(): readonly string[] {
    const oldest = this.#clock.monotonic() - this.#leaseFor;
    for (const [name, { sentAt }] of this.#unanswered) if (sentAt < oldest) this.#unanswered.delete(name);
    return [...this.#unanswered.keys()];
  }

  /** A call begins to wait: for the request without an answer, or for a new one. */
  begin(name: string): LeaseRequest {
    const request = this.#unanswered.get(name) ?? this.#new(name);
    request.waiting += 1;
    return request;
  }

  #new(name: string): LeaseRequest {
    const request = { id: randomId(), sentAt: this.#clock.monotonic(), waiting: 0, token: 0 };
    this.#unanswered.set(name, request);
    return request;
  }

  answered(name: string, request: LeaseRequest, answer: AcquireAnswer): void {
    if (this.#unanswered.get(name) === request) this.#unanswered.delete(name);
    request.token = answer.kind === 'acquired' ? answer.lease.token : 0;
  }

  /**
   * The answer has come after its call gave up, or is the second one, of a request that was sent twice: its lease is another one if
   * the first had been released by then.
   *
   * @returns whether its lease has no holder.
   */
  answeredLate(name: string, request: LeaseRequest, answer: AcquireAnswer): boolean {
    const isFirst = this.#unanswered.get(name) === request;
    if (isFirst && request.waiting > 0) return false;
    if (isFirst) this.#unanswered.delete(name);
    return answer.kind === 'acquired' && answer.lease.token > request.token;
  }
}
