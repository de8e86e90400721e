import { isOptionError, showKey } from '../errors.ts';
import { isNumber } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import { limited } from './backend-access.ts';
import { DamagedRecordError } from './damage.ts';
import { HeldLease } from './held-lease.ts';
import { thisHost, thisProcess } from './identity.ts';
import type { AcquireAnswer, AcquireRequest, LockProvider, ReleaseOutcome } from './lock-contract.ts';
import type { PendingRequest } from './pending-request.ts';

/** How often a lock is asked before it counts as unavailable: the first answer may be lost. */
export const TRIES = 2;

/** Where leases come from. */
export interface LeaseSource {
  readonly steps: Pick<LockProvider, 'acquire' | 'extend' | 'release'>;
  /** How long an acquire may take, in milliseconds. */
  readonly limitMs: number;
  /** How long an extension or a release may take, in milliseconds. */
  readonly behindMs: number;
  /** As of {@link PendingRequest.answeredLate}. */
  readonly forcedEnd?: ReleaseOutcome | undefined;
}

/** The answer of the lock. */
export type LeaseAnswer =
  | (Extract<AcquireAnswer, { readonly kind: 'acquired' }> & {
      readonly held: HeldLease;
      /** The request has ignored a hold: this call, or one before it that got no answer. */
      readonly isForced: boolean;
    })
  | Exclude<AcquireAnswer, { readonly kind: 'acquired' }>;

/** How often it is asked, and for how long in all. */
export interface Patience {
  readonly tries: number;
  /** How long all tries together may take, in milliseconds. @default as any other step */
  readonly acquireMs?: number;
}

/**
 * Asks for a lease on behalf of this process. If the answer is lost, it asks again with the same request, which gives the
 * same lease; if the answer comes after the lease has expired, with a new request. After a time-out it does not ask again.
 *
 * A lease whose answer comes later than it was waited for is given back: see {@link PendingRequest}.
 *
 * @returns the answer, and when it was asked for (monotonic).
 * @throws the cause, if the lock can't be asked.
 */
export async function acquireLease(
  source: LeaseSource,
  wanted: Pick<AcquireRequest, 'name' | 'leaseFor' | 'force'>,
  pending: PendingRequest,
  clock: Clock,
  { tries, acquireMs = source.limitMs }: Patience,
): Promise<{ readonly answer: LeaseAnswer; readonly sentAt: number }> {
  const { steps } = source;
  const endAt = clock.monotonic() + acquireMs;
  let cause: unknown;
  for (let left = tries; left > 0; left--) {
    const sentAt = clock.monotonic();
    if (left < tries && isOver(endAt, sentAt)) break;
    const request = pending.begin(sentAt, wanted.force);
    const { id: requestId, sentAt: firstSentAt } = request;
    const asked = callOf(() =>
      steps.acquire({ ...wanted, requestId, owner: thisProcess(), host: thisHost() }),
    );
    try {
      const answer = await limited(() => asked, clock, endAt - sentAt);
      if (!isAnswer(answer))
        throw new DamagedRecordError(`acquire() returned ${showKey(answer)}, which is not an answer`);
      pending.answered(request);
      if (answer.kind !== 'acquired') return { answer, sentAt };
      const { remaining, ...id } = answer.lease;
      // It was given after it was first asked for, so it lasts for at least `leaseFor` from then, however late the answer
      // is; unless the backend reports that less is left.
      const byRequest = firstSentAt + wanted.leaseFor;
      const byAnswer = sentAt + remaining;
      const isBelievable = byRequest <= clock.monotonic() + remaining;
      const end = isBelievable ? Math.max(byAnswer, byRequest) : byAnswer;
      const held = new HeldLease(source, id, end, clock, wanted.leaseFor);
      if (!held.isLost) return { answer: { ...answer, held, isForced: request.isForced }, sentAt };
      cause = new Error('the answer came after the lease had expired');
    } catch (thrown) {
      pending.gaveUp(request);
      void asked.then(
        (late) => pending.answeredLate(request, sentAt, isAnswer(late) ? late : undefined, source, clock),
        () => {},
      );
      if (isOptionError(thrown)) throw thrown;
      cause = thrown;
    }
  }
  throw cause;
}

/** Whether that time is used up; a timer may fire up to a millisecond early. */
export function isOver(endAt: number, now: number): boolean {
  return now >= endAt - 1;
}

/** A promise of a step that may throw instead of rejecting. */
function callOf<R>(step: () => R | PromiseLike<R>): Promise<R> {
  return new Promise((resolve) => resolve(step()));
}

/** A user's lock may return anything. */
function isAnswer(answer: AcquireAnswer | undefined): boolean {
  if (answer?.kind === 'acquired') {
    return isToken(answer.lease?.token) && isNumber(answer.lease.remaining, 0, Number.MAX_VALUE);
  }
  if (answer?.kind !== 'held' && answer?.kind !== 'done') return false;
  const ago = answer.kind === 'held' ? answer.heldFor : answer.finishedAgo;
  const times = [answer.retryAfter, ago];
  return isToken(answer.token) && times.every((time) => isNumber(time, 0, Number.MAX_VALUE));
}

function isToken(token: unknown): boolean {
  return isNumber(token, 0, Number.MAX_SAFE_INTEGER);
}
