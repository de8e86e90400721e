import type { Clock } from './clock.ts';

/**
 * The wall clock in epoch milliseconds. A reading other than a number (a mocked `Date.now` without a result), or that
 * throws, is replaced by the last good one plus the time elapsed since.
 */
export function wallClock(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  let offset = 0;
  return () => {
    let wall: unknown;
    try {
      wall = clock.now();
    } catch {
      // counts as no reading
    }
    if (!Number.isFinite(wall)) return offset + clock.monotonic();
    offset = (wall as number) - clock.monotonic();
    return wall as number;
  };
}
