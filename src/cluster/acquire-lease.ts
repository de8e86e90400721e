import { isTicklessError, showKey } from '../errors.ts';
import { isNumber } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import { type AnswerWatch, OverdueError, SilenceError, type StepLimits } from './answer-watch.ts';
import type { Claim, ClaimAnswer, LockSteps } from './backend-steps.ts';
import { DamagedRecordError } from './damage.ts';
import { HeldLease } from './held-lease.ts';
import { thisHost, thisProcess } from './identity.ts';
import type { LeaseRequests } from './lease-requests.ts';
import type { AcquireAnswer } from './lock-contract.ts';

/** How often a lock is asked before it counts as unavailable: the first answer may be lost. */
export const TRIES = 2;

/** Where leases come from. */
export interface LeaseSource {
  readonly steps: Pick<LockSteps, 'acquire' | 'extend' | 'release'>;
  readonly answers: AnswerWatch;
  /** How long an acquire is waited for while the lock is silent, in milliseconds. */
  readonly limitMs: number;
  /** How long an extension or a release may take, in milliseconds. */
  readonly backgroundTimeoutMs: number;
}

/** The answer of the lock. */
export type LeaseAnswer =
  | (Extract<ClaimAnswer, { readonly kind: 'acquired' }> & { readonly held: HeldLease })
  | Exclude<ClaimAnswer, { readonly kind: 'acquired' }>;

/** How often it is asked, and how long each time. */
export interface Patience {
  readonly tries: number;
  /** @default a time-out of the lock, slow or not */
  readonly limits?: StepLimits;
}

/**
 * Asks for a lease on behalf of this process. If the answer is lost, it asks again with the same request, which gives the
 * same lease; if the answer comes after the lease has expired, with a new request. After a time-out it does not ask again.
 *
 * A lease whose answer comes later than it was waited for is given back: see {@link LeaseRequests}.
 *
 * @returns the answer, and when it was asked for (monotonic).
 * @throws the cause, if the lock can't be asked.
 */
export async function acquireLease(
  source: LeaseSource,
  wanted: Pick<Claim, 'name' | 'leaseFor' | 'force'> & Partial<Pick<Claim, 'owner' | 'newerThan'>>,
  requests: LeaseRequests,
  clock: Clock,
  { tries, limits = { silenceMs: source.limitMs } }: Patience,
): Promise<{ readonly answer: LeaseAnswer; readonly sentAt: number }> {
  const { steps, answers } = source;
  const { name } = wanted;
  let cause: unknown;
  for (let left = tries; left > 0; left--) {
    const sentAt = clock.monotonic();
    const request = requests.begin(name);
    const { id: requestId, sentAt: firstSentAt } = request;
    const ask = async (): Promise<ClaimAnswer> =>
      answerOf(await steps.acquire({ owner: thisProcess(), ...wanted, requestId, host: thisHost() }));
    const late = (answer: AcquireAnswer): void => {
      if (!requests.answeredLate(name, request, answer) || answer.kind !== 'acquired') return;
      const { remaining, ...id } = answer.lease;
      const unused = new HeldLease(source, id, sentAt + remaining, clock, remaining);
      void unused.release(() => ({ as: 'abandoned' })); // tried again behind, while it lasts
    };
    try {
      const answer = await answers.wait(ask, clock, { ...limits, step: 'acquire' }, late);
      requests.answered(name, request, answer);
      if (answer.kind !== 'acquired') return { answer, sentAt };
      const { remaining, ...id } = answer.lease;
      // It was given after it was first asked for, so it lasts for at least `leaseFor` from then, however late the answer
      // is; unless the backend reports that less is left.
      const byRequest = firstSentAt + wanted.leaseFor;
      const byAnswer = sentAt + remaining;
      const isBelievable = byRequest <= clock.monotonic() + remaining;
      const end = isBelievable ? Math.max(byAnswer, byRequest) : byAnswer;
      const held = new HeldLease(source, id, end, clock, wanted.leaseFor);
      if (!held.isLost) return { answer: { ...answer, held }, sentAt };
      cause = new Error('the answer came after the lease had expired');
    } catch (thrown) {
      request.waiting -= 1;
      if (
        isTicklessError(thrown, 'OPTION') ||
        thrown instanceof SilenceError ||
        thrown instanceof OverdueError
      )
        throw thrown;
      cause = thrown;
    }
  }
  throw cause;
}

/** A user's lock may return anything. */
function answerOf(answer: ClaimAnswer): ClaimAnswer {
  if (isAnswer(answer)) return answer;
  throw new DamagedRecordError(`acquire() returned ${showKey(answer)}, which is not an answer`);
}

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
