import type { Clock } from '../time/clock.ts';
import { type Turn, turnsFor } from '../time/turns.ts';
import { withStepTimeout } from './backend-access.ts';
import { turnsLimitMs } from './backend-patience.ts';

/** The pauses and the limits of the work on one snapshot. */
export interface Pace {
  /** Between two slices. */
  readonly turn: Turn;
  /** Limits the time of a step of user code. */
  readonly limit: <R>(step: () => R | PromiseLike<R>) => Promise<R>;
}

/**
 * The pauses are shorter where the result is waited for.
 *
 * @param leftMs how long that may take, in milliseconds.
 * @param limitMs of each step of user code. @default the longest step
 */
export function paceOf(clock: Clock, leftMs: number, limitMs?: number): Pace {
  return {
    turn: turnsFor(clock, turnsLimitMs(leftMs)),
    limit: (step) => withStepTimeout(step, clock, limitMs),
  };
}
