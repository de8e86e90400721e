import type { Clock } from '../time/clock.ts';
import { withTimeout } from '../time/with-timeout.ts';

/** An adapter should bound the time of its steps by itself. One that does not must not hold up what comes after. */
const LONGEST_STEP_MS = 15_000;

/**
 * Asks a lock, a store or a codec of others. Rejects within a bounded time, whatever that does.
 *
 * @param mostMs where less time is left. @default 15 seconds
 */
export function asked<R>(
  step: () => R | PromiseLike<R>,
  clock: Clock,
  mostMs: number = LONGEST_STEP_MS,
): Promise<R> {
  return withTimeout(step, Math.min(mostMs, LONGEST_STEP_MS), clock);
}
