import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withJitter } from '../../../src/schedule/with-jitter.ts';
import { FITS, misfit, seeded, uniform } from '../../support/distribution.ts';
import { endedAt } from './support.ts';

describe('withJitter', () => {
  it('adds the part of the jitter that random gives', () => {
    const schedule = withJitter(60_000, { seconds: 10 });
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0 }))).toBe(61_000);
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0.25 }))).toBe(63_500);
  });

  it('adds a ratio of the time from now to the next execution', () => {
    const schedule = withJitter(60_000, { ratio: 0.5 });
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0.5 }))).toBe(61_000 + 15_000);
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0.5, startedAt: 0 }))).toBe(
      61_000 + 15_000,
    );
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0.5, now: 41_000 }))).toBe(61_000 + 5_000);
    expect(schedule.nextExecuteTime(endedAt(1000, { random: () => 0.5, now: 90_000 }))).toBe(61_000);
  });

  it('is never earlier, and later by less than the jitter', () => {
    const jitter = fc.oneof(
      fc.integer({ min: 1, max: 1e10 }),
      fc.record({ ratio: fc.double({ min: 0.001, max: 10, noNaN: true }) }),
    );
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e10 }), jitter, random, (delay, width, drawn) => {
        const next = withJitter(delay, width).nextExecuteTime(endedAt(1e12, { random: () => drawn }));
        const widthMs = typeof width === 'number' ? width : width.ratio * delay;
        expect(next).toBeGreaterThanOrEqual(1e12 + delay);
        expect(next).toBeLessThanOrEqual(1e12 + delay + widthMs);
      }),
    );
  });

  it.each([
    ['a duration', 10_000, 10_000],
    ['a ratio', { ratio: 0.25 }, 15_000],
  ])('is uniform over the whole width of %s', (_, jitter, widthMs) => {
    const random = seeded();
    const schedule = withJitter(60_000, jitter);
    const samples = Array.from({ length: 20_000 }, () => schedule.nextExecuteTime(endedAt(0, { random })));
    expect(misfit(samples, uniform(60_000, 60_000 + widthMs))).toBeLessThan(FITS);
  });

  it('leaves never as it is, and a broken answer broken', () => {
    for (const jitter of [1000, { ratio: 0.1 }]) {
      expect(withJitter(Infinity, jitter).nextExecuteTime(endedAt(0, { random: () => 0 }))).toBe(
        Number.POSITIVE_INFINITY,
      );
      expect(withJitter(() => Number.NaN, jitter).nextExecuteTime(endedAt(0))).toBeNaN();
    }
  });

  it('adds nothing with 0', () => {
    expect(withJitter(60_000, 0).nextExecuteTime(endedAt(0))).toBe(60_000);
    expect(withJitter(60_000, { ratio: 0 }).nextExecuteTime(endedAt(0))).toBe(60_000);
  });

  it('passes on what the schedule knows of staleness', () => {
    expect(
      withJitter({ nextExecuteTime: () => 5, maxStaleness: () => 70 }, 10).maxStaleness?.(endedAt(0)),
    ).toBe(70);
    expect(withJitter(1000, 10).maxStaleness?.(endedAt(0))).toBeUndefined();
  });

  it('uses Math.random by default', () => {
    const draws = Array.from({ length: 100 }, () => withJitter(60_000, 10_000).nextExecuteTime(endedAt(0)));
    expect(new Set(draws).size).toBeGreaterThan(90);
  });
});
