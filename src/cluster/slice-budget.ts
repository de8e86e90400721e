import type { Clock } from '../time/clock.ts';
import { type EventLoopYield, yieldsFor } from '../time/yield-to-event-loop.ts';
import { withStepTimeout } from './backend-access.ts';
import { yieldsLimitMs } from './backend-patience.ts';

/** The pauses and the limits of the work on one snapshot. */
export interface SliceBudget {
  /** Between two slices. */
  readonly yields: EventLoopYield;
  /** Limits the time of a step of user code. */
  readonly limit: <R>(step: () => R | PromiseLike<R>) => Promise<R>;
}

/**
 * The pauses are shorter where the result is waited for.
 *
 * @param leftMs how long that may take, in milliseconds.
 * @param limitMs of each step of user code. @default the longest step
 */
export function sliceBudgetOf(clock: Clock, leftMs: number, limitMs?: number): SliceBudget {
  return {
    yields: yieldsFor(clock, yieldsLimitMs(leftMs)),
    limit: (step) => withStepTimeout(step, clock, limitMs),
  };
}
