import { isOptionError, showKey } from '../errors.ts';
import { isNumber } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import { limited } from './backend-access.ts';
import { DamagedRecordError } from './damage.ts';
import { HeldLease } from './held-lease.ts';
import { randomId, thisHost, thisProcess } from './identity.ts';
import type { AcquireAnswer, AcquireRequest, LockProvider } from './lock-contract.ts';
import type { UnansweredRequest } from './shared-state.ts';

/** How often a lock is asked before it counts as unavailable: the first answer may be lost. */
export const TRIES = 2;

/** Where leases come from. */
export interface LeaseSource {
  readonly steps: Pick<LockProvider, 'acquire' | 'extend' | 'release'>;
  /** How long one step may take, in milliseconds. */
  readonly limitMs: number;
}

/** The answer of the lock. */
export type LeaseAnswer =
  | (Extract<AcquireAnswer, { readonly kind: 'acquired' }> & { readonly held: HeldLease })
  | Exclude<AcquireAnswer, { readonly kind: 'acquired' }>;

/** How often it is asked, and for how long each time. */
export interface Patience {
  readonly tries: number;
  /** How long an acquire may take, in milliseconds. @default as any other step */
  readonly acquireMs?: number;
}

/**
 * Asks for a lease on behalf of this process. If the answer is lost, it asks again with the same request, which gives the
 * same lease; if the answer comes after the lease has expired, with a new request.
 *
 * @param pending the request that has no answer yet; it stays there if none comes.
 * @returns the answer, and when it was asked for (monotonic).
 * @throws the cause, if the lock can't be asked.
 */
export async function acquireLease(
  { steps, limitMs }: LeaseSource,
  wanted: Pick<AcquireRequest, 'name' | 'leaseFor' | 'force'>,
  pending: { request: UnansweredRequest | undefined },
  clock: Clock,
  { tries, acquireMs = limitMs }: Patience,
): Promise<{ readonly answer: LeaseAnswer; readonly sentAt: number }> {
  let cause: unknown;
  for (let left = tries; left > 0; left--) {
    const sentAt = clock.monotonic();
    pending.request ??= { id: randomId(), sentAt };
    const { id: requestId, sentAt: firstSentAt } = pending.request;
    const request = { ...wanted, requestId, owner: thisProcess(), host: thisHost() };
    try {
      const answer = await limited(() => steps.acquire(request), clock, acquireMs);
      if (!isAnswer(answer))
        throw new DamagedRecordError(`acquire() returned ${showKey(answer)}, which is not an answer`);
      pending.request = undefined;
      if (answer.kind !== 'acquired') return { answer, sentAt };
      const { remaining, ...id } = answer.lease;
      // It was given after it was first asked for, so it lasts for at least `leaseFor` from then, however late the answer
      // is; unless the backend reports that less is left.
      const byRequest = firstSentAt + wanted.leaseFor;
      const byAnswer = sentAt + remaining;
      const isBelievable = byRequest <= clock.monotonic() + remaining;
      const end = isBelievable ? Math.max(byAnswer, byRequest) : byAnswer;
      const held = new HeldLease({ steps, limitMs }, id, end, clock, wanted.leaseFor);
      if (!held.isLost) return { answer: { ...answer, held }, sentAt };
      cause = new Error('the answer came after the lease had expired');
    } catch (thrown) {
      if (isOptionError(thrown)) throw thrown;
      cause = thrown;
    }
  }
  throw cause;
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
