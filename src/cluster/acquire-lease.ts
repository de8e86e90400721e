import type { UnansweredRequest } from '../engine/entry.ts';
import { isOptionError, showKey } from '../errors.ts';
import { isNumber } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import { asked } from './asked.ts';
import { HeldLease } from './held-lease.ts';
import { randomId, thisHost, thisProcess } from './identity.ts';
import type { AcquireAnswer, AcquireRequest, LockProvider } from './lock-contract.ts';

/** So often a lock is asked before it counts as unavailable; the second time it may be the answer that was lost. */
export const TRIES = 2;

/** What the lock has answered. */
export type LeaseAnswer =
  | (Extract<AcquireAnswer, { readonly kind: 'acquired' }> & { readonly held: HeldLease })
  | Exclude<AcquireAnswer, { readonly kind: 'acquired' }>;

/** How often it is asked, and for how long each time. */
export interface Patience {
  readonly tries: number;
  /** Milliseconds. @default as of `asked` */
  readonly mostMs?: number | undefined;
}

/**
 * Asks for a lease, in the name of this process. Where the answer is lost it is asked again with the same request,
 * which gives the same lease; where it comes when the lease has expired already, with a new one.
 *
 * @param pending the request that has no answer yet; it stays there when none comes.
 * @returns the answer, and when it was asked for (monotonic).
 * @throws the cause, when it can't be asked.
 */
export async function acquireLease(
  lock: LockProvider,
  wanted: Pick<AcquireRequest, 'name' | 'leaseFor' | 'force'>,
  pending: { request: UnansweredRequest | undefined },
  clock: Clock,
  { tries, mostMs }: Patience,
): Promise<{ readonly answer: LeaseAnswer; readonly sentAt: number }> {
  let cause: unknown;
  for (let left = tries; left > 0; left--) {
    const sentAt = clock.monotonic();
    pending.request ??= { id: randomId(), sentAt };
    const { id: requestId, sentAt: firstSentAt } = pending.request;
    const request = { ...wanted, requestId, owner: thisProcess(), host: thisHost() };
    try {
      const answer = await asked(() => lock.acquire(request), clock, mostMs);
      if (!isAnswer(answer)) throw new TypeError(`acquire() answered with ${showKey(answer)}`);
      pending.request = undefined;
      if (answer.kind !== 'acquired') return { answer, sentAt };
      const { remaining, ...id } = answer.lease;
      // It was given after it was first asked for, so it lasts for `leaseFor` from then at least, however late the answer
      // is; unless the engine says that less is left.
      const byRequest = firstSentAt + wanted.leaseFor;
      const byAnswer = sentAt + remaining;
      const isBelievable = byRequest <= clock.monotonic() + remaining;
      const end = isBelievable ? Math.max(byAnswer, byRequest) : byAnswer;
      const held = new HeldLease(lock, id, end, clock, wanted.leaseFor);
      if (!held.isLost) return { answer: { ...answer, held }, sentAt };
      cause = new Error('its answer came when the lease had expired');
    } catch (thrown) {
      if (isOptionError(thrown)) throw thrown;
      cause = thrown;
    }
  }
  throw cause;
}

/** A lock of others may answer anything. */
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
