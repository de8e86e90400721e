import type { StepLimits } from './answer-watch.ts';
import { LONGEST_STEP_MS } from './time-limits.ts';

/** A silent backend takes at most this part of the deadline, so that most of it is left for the load. */
const PART_OF_DEADLINE = 0.25;

/** A slow backend takes at most this part of what is left of the deadline, so that something is left for the load. */
const PART_OF_REST = 0.5;

/**
 * Where a store and a lock are asked in turn, this part of the time-out is for the store: so a reader without a value
 * waits for one time-out where both are down.
 */
const PART_OF_STORE = 0.75;

/** How long the load at hand waits for a backend. */
export interface BackendPatience {
  /** It waits while a backend that was down is probed. Else it goes on without the backend, and is the probe behind. */
  readonly waitsForProbe: boolean;
  /**
   * Since when a reader without a value waits for a backend that has answered nothing (monotonic); `undefined`: none does.
   */
  readonly startedAt: number | undefined;
}

/** The time of the load at hand, in milliseconds. */
interface LoadTime {
  readonly timeoutMs: number;
  /** Until its deadline. */
  readonly leftMs: number;
}

/** How long a step is waited for while its backend is silent, and while it is slow. */
export function stepLimits(silenceMs: number, { timeoutMs, leftMs }: LoadTime): StepLimits {
  return {
    silenceMs: Math.min(silenceMs, timeoutMs * PART_OF_DEADLINE, LONGEST_STEP_MS),
    mostMs: Math.min(Math.min(timeoutMs, leftMs) * PART_OF_REST, LONGEST_STEP_MS),
  };
}

/** How long a read is waited for while the store is silent, in milliseconds. @param limitMs the limit of the backend. */
export function readSilenceMs(limitMs: number, { startedAt }: BackendPatience, hasLock: boolean): number {
  return limitMs * (startedAt !== undefined && hasLock ? PART_OF_STORE : 1);
}

/**
 * How long the slices of a large value get a turn of the event loop each, in milliseconds; then they get fewer.
 *
 * @param leftMs until the work has to be done: of the deadline of a load, or of its lease, which is not extended meanwhile.
 */
export function turnsLimitMs(leftMs: number): number {
  return leftMs * PART_OF_DEADLINE;
}

/** How long an acquire is waited for while the lock is silent, in milliseconds. @param limitMs the limit of the backend. */
export function acquireSilenceMs(limitMs: number, { startedAt }: BackendPatience, now: number): number {
  const spentMs = startedAt === undefined ? 0 : now - startedAt;
  return limitMs - Math.min(spentMs, limitMs * PART_OF_STORE);
}
