import pRetry, { type Options, type RetryContext } from 'p-retry';

/**
 * The options of p-retry 7 for the tries inside one execution: `retries`, `factor`, `minTimeout`, `maxTimeout`,
 * `randomize`, `maxRetryTime`, `onFailedAttempt`, `shouldRetry`, `shouldConsumeRetry`.
 *
 * At most `retries + 1` calls. What is left out has p-retry's own default (10 retries, 1 s, factor 2). As p-retry
 * does, a `TypeError` that is not a network error is not retried (it is taken for a mistake in the code), nor an
 * `AbortError` of p-retry. `signal` and `unref` are tickless's own business: the deadline, and rule 8 of its design.
 */
export type RetryOptions = Omit<Options, 'signal' | 'unref'>;

/**
 * Tries until an attempt succeeds, under p-retry.
 *
 * The pauses between tries are p-retry's (`minTimeout · factor^n`, at most `maxTimeout`, times 1 to 2 with
 * `randomize`), but slept on tickless's clock: p-retry's own sleep can be neither faked nor held.
 *
 * @param attempt called with 1, 2, …
 * @param pause sleeps for at least that many milliseconds after that error; resolves with `false` when there is no
 *   time left for another try.
 */
export function retrying<A>(
  attempt: (attempt: number) => A | PromiseLike<A>,
  options: RetryOptions,
  {
    signal,
    random,
    pause,
  }: {
    readonly signal: AbortSignal;
    readonly random: () => number;
    readonly pause: (ms: number, error: Error) => Promise<boolean>;
  },
): Promise<A> {
  const { factor = 2, minTimeout = 1000, maxTimeout = Number.POSITIVE_INFINITY, randomize = false } = options;
  let consumes = true;
  return pRetry(attempt, {
    ...options,
    minTimeout: 0,
    signal,
    shouldConsumeRetry: async (context) => {
      consumes = (await options.shouldConsumeRetry?.(context)) ?? true;
      return consumes;
    },
    shouldRetry: async (context: RetryContext) => {
      if ((await options.shouldRetry?.(context)) === false) return false;
      const growth = (factor > 0 ? factor : 1) ** context.retriesConsumed;
      const backOff = Math.min(maxTimeout, minTimeout * growth * (randomize ? 1 + random() : 1));
      return pause(consumes ? backOff : 0, context.error);
    },
  });
}
