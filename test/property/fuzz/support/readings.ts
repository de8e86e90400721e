import { expect } from 'vitest';
import { httpFreshness } from '../../../../src/index.ts';
import type { HeadersLike } from '../../../../src/schedule/schedule.ts';

export const NOW: number = Date.UTC(2026, 10, 20, 12);
/** Seconds, as of the options. */
export const FALLBACK = 300;
export const AT_LEAST = 1;

/** The meaning of headers for the schedule. */
export interface Reading {
  /** Seconds until the next execution. */
  readonly next: number;
  /** Seconds until it is too stale. */
  readonly limit: number | undefined;
}

export function reading(headers: unknown, shared = false): Reading {
  const schedule = httpFreshness({ shared });
  const execution = { startedAt: NOW - 5, endedAt: NOW, headers: headers as HeadersLike };
  const limit = schedule.maxStaleness?.(execution);
  return {
    next: (schedule.nextExecuteTime(execution) - NOW) / 1000,
    limit: limit === undefined ? undefined : limit / 1000,
  };
}

/** The next execution is later than now and a valid instant; an age limit is not shorter than that. */
export function expectBounded({ next, limit }: Reading): void {
  expect(next).toBeGreaterThanOrEqual(AT_LEAST);
  expect(next * 1000 + NOW).toBeLessThan(8.64e15);
  if (limit !== undefined) expect(limit).toBeGreaterThanOrEqual(next);
  if (limit !== undefined) expect(limit * 1000 + NOW).toBeLessThan(8.64e15);
}
