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

/** How a backend is asked, and how long its answer is waited for. */
export interface BackendPatience {
  /** The caller waits while a backend that was down is probed. Else it goes on without, and its step is the probe behind. @default true */
  readonly waitsForProbe?: boolean;
  /** Since when a reader without a value waits for a backend that has answered nothing (monotonic). @default none does */
  readonly startedAt?: number | undefined;
  /** How long it is waited for while it is silent, in milliseconds. @default as long as for a step that no reader waits for */
  readonly limitMs?: number;
  /**
   * A step that writes a payload. Its failure alone does not prove an outage: the payload may be at fault (as a damaged
   * record may, where a lock is asked). The backend is then asked by one caller at a time until it has answered; three
   * such failures in a row open the breaker. While it is open after another step, one write is the probe. @default false
   */
  readonly isWrite?: boolean;
  /** Asked when the turn of the step has come; `false`: it is of no use any longer, and is not run. @default it is */
  readonly isWanted?: () => boolean;
}

/** That of a step for which no reader waits. */
export const PATIENT: BackendPatience = {};

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
export function readSilenceMs(limitMs: number, { startedAt }: BackendPatience): number {
  return limitMs * (startedAt === undefined ? 1 : PART_OF_STORE);
}

/**
 * How long the slices of a large value get a turn of the event loop each, in milliseconds; then they get fewer.
 *
 * @param leftMs until the work has to be done: of the deadline of a load, or of its lease, which is not extended meanwhile.
 */
export function yieldsLimitMs(leftMs: number): number {
  return leftMs * PART_OF_DEADLINE;
}

/** How long an acquire is waited for while the lock is silent, in milliseconds. @param limitMs the limit of the backend. */
export function acquireSilenceMs(limitMs: number, { startedAt }: BackendPatience, now: number): number {
  const spentMs = startedAt === undefined ? 0 : now - startedAt;
  return limitMs - Math.min(spentMs, limitMs * PART_OF_STORE);
}
