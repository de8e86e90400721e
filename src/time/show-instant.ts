/** The last instant that a `Date` can represent, in epoch milliseconds; the first one is as long before 1970. */
const LAST_INSTANT = 8.64e15;

/** Whether a `Date` can represent it. */
export function isInstant(epochMs: number): boolean {
  return Math.abs(epochMs) <= LAST_INSTANT;
}

/** `2026-11-28T23:00:00.000Z`; for an instant that no `Date` represents the nearest one, since a log line must not throw. */
export function showInstant(epochMs: number): string {
  return new Date(Math.max(-LAST_INSTANT, Math.min(epochMs, LAST_INSTANT))).toISOString();
}
