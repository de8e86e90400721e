import { bounded } from '../bounded.ts';

/** An adapter should bound the time of its steps by itself. One that does not must not hold up what comes after. */
const LONGEST_STEP_MS = 15_000;

/** Asks a lock or a store of others. Rejects within a bounded time, whatever that does. */
export function asked<R>(step: () => Promise<R>): Promise<R> {
  return bounded(step, LONGEST_STEP_MS);
}
