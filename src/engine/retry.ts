import pRetry, { AbortError, type Options, type RetryContext } from 'p-retry';
import { isTicklessError } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';

/**
 * The options of p-retry 7 for the tries inside one execution: `retries`, `factor`, `minTimeout`, `maxTimeout`,
 * `randomize`, `maxRetryTime`, `onFailedAttempt`, `shouldRetry`, `shouldConsumeRetry`.
 *
 * At most `retries + 1` calls. An option that is left out has tickless's default: 2 retries, from 250 ms by the factor 2, with
 * `randomize`; no limit by `maxTimeout` and `maxRetryTime`. As p-retry does, a `TypeError` that is not a network error is not retried (it is taken for a mistake in the code), nor an
 * `AbortError` of p-retry. `signal` and `unref` are tickless's own business: the deadline, and rule 8 of its design.
 */
export type RetryOptions = Omit<Options, 'signal' | 'unref'>;

/** With its defaults. */
export type ResolvedRetry = RetryOptions & Required<Pick<RetryOptions, 'retries' | 'factor' | 'minTimeout'>>;

/**
 * Tries until an attempt succeeds, under p-retry.
 *
 * The pauses between tries are p-retry's (`minTimeout · factor^n`, at most `maxTimeout`, times 1 to 2 with
 * `randomize`, at most what `maxRetryTime` leaves), but slept on tickless's clock: p-retry's own sleep can be neither
 * faked nor held. A failure that consumes no retry is followed by a pause of 1 ms, so that such tries can't keep the
 * deadline from firing.
 *
 * @param attempt called with 1, 2, …
 * @param execution `now` is the monotonic clock, `startedAt` the start of the first attempt on it. `pause` sleeps for at
 *   least that many milliseconds after that error, and resolves with `false` when the time left is too short for another
 *   try.
 */
export function retrying<A>(
  attempt: (attempt: number) => A | PromiseLike<A>,
  options: ResolvedRetry,
  execution: {
    readonly signal: AbortSignal;
    readonly startedAt: number;
    readonly random: (error: unknown) => number;
    readonly now: () => number;
    readonly pause: (ms: number, error: Error) => Promise<boolean>;
  },
): Promise<A> {
  const own = ownOptions(options);
  const { retries, factor, minTimeout, maxTimeout = Infinity, maxRetryTime = Infinity } = own;
  const { onFailedAttempt, shouldConsumeRetry, shouldRetry } = own;
  const { signal, startedAt, random, now, pause } = execution;
  let consumes: boolean; // p-retry asks for it before anything else, after each failure

  function backOff({ retriesConsumed, error }: RetryContext): number {
    const growth = (factor > 0 ? factor : 1) ** retriesConsumed;
    return Math.min(maxTimeout, minTimeout * growth * (own.randomize ? 1 + random(error) : 1));
  }

  /** A refused value is final: the source would return the same. */
  async function finalIfRefused(number: number): Promise<A> {
    try {
      return await attempt(number);
    } catch (error) {
      throw isTicklessError(error, 'REFUSED') ? new AbortError(error) : error;
    }
  }

  return pRetry(finalIfRefused, {
    // All that p-retry reads: it would look for what is left out on Object.prototype.
    retries,
    factor: 1,
    minTimeout: 0,
    maxTimeout: Infinity,
    maxRetryTime: Infinity,
    randomize: false,
    signal,
    onFailedAttempt: async (context) => {
      signal.throwIfAborted(); // superseded: the callbacks of the user are not called any more
      await onFailedAttempt?.(context);
    },
    shouldConsumeRetry: async (context) => {
      consumes = (await shouldConsumeRetry?.(context)) ?? true;
      if (!consumes && !(await pause(1, context.error))) throw context.error;
      return consumes;
    },
    shouldRetry: async (context: RetryContext) => {
      if ((await shouldRetry?.(context)) === false) return false;
      if (!consumes) return true;
      const rest = maxRetryTime - (now() - startedAt);
      return rest > 0 && pause(Math.min(backOff(context), rest), context.error);
    },
  });
}
