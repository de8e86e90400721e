import { LONGEST_LEASE_MS } from './longest-lease.ts';

/**
 * Tolerance for a clock that was set back, in milliseconds. A start or end of a round that lies further in the future was
 * written before the backend's clock was set back; it counts as over, so that a lease does not last for hours. The age of a
 * snapshot that was written further in the future is unknown.
 */
export const CLOCK_BACK_MS = 60_000;

/**
 * How far a token or a version may be ahead of the backend's clock in microseconds, from which it comes. One that is
 * further ahead was edited, and would never be reached again.
 */
const LONGEST_AHEAD_MICROS: number = LONGEST_LEASE_MS * 1000;

/** @param wall the backend's wall clock, in epoch milliseconds. */
export function isPlausibleToken(token: unknown, wall: number): token is number {
  return (
    Number.isSafeInteger(token) && Number(token) >= 0 && Number(token) <= wall * 1000 + LONGEST_AHEAD_MICROS
  );
}
