import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { probabilisticEarly } from '../../../src/schedule/probabilistic-early.ts';
import { exponential, FITS, misfit, seeded } from '../../support/distribution.ts';
import { optionErrorOf } from './support.ts';

const NOW = 1_700_000_000_000;
const took = (ms: number): { startedAt: number; endedAt: number } => ({ startedAt: NOW - ms, endedAt: NOW });

describe('probabilisticEarly', () => {
  it('is early by Δ · beta · −ln(u)', () => {
    const schedule = probabilisticEarly({ minutes: 1 }, { beta: 2 });
    // random() = 1 − 1/e, so u = 1/e and −ln(u) = 1
    const next = schedule.nextExecuteTime({ ...took(500), random: () => 1 - 1 / Math.E });
    expect(next).toBeCloseTo(NOW + 60_000 - 1000, 3);
    expect(schedule.nextExecuteTime({ ...took(500), random: () => 0 })).toBe(NOW + 60_000);
  });

  it.each([undefined, 0.5, 3])('is exponentially early, by Δ · beta on average, with the beta %o', (beta) => {
    const random = seeded();
    const schedule = probabilisticEarly({ hours: 1 }, { beta });
    const samples = Array.from(
      { length: 20_000 },
      () => NOW + 3_600_000 - schedule.nextExecuteTime({ ...took(800), random }),
    );
    expect(misfit(samples, exponential(800 * (beta ?? 1)))).toBeLessThan(FITS);
  });

  it('is at halfway where it would be earlier, and nowhere else more often', () => {
    const random = seeded();
    const schedule = probabilisticEarly(10_000);
    const samples = Array.from(
      { length: 20_000 },
      () => NOW + 10_000 - schedule.nextExecuteTime({ ...took(4000), random }),
    );
    const beforeHalfway = samples.filter((early) => early < 5000);
    const share = exponential(4000)(5000);
    expect(Math.abs(beforeHalfway.length / samples.length - share)).toBeLessThan(0.015);
    const truncated = (early: number): number => exponential(4000)(early) / share;
    expect(misfit(beforeHalfway, truncated)).toBeLessThan(FITS);
    expect(Math.max(...samples)).toBe(5000);
  });

  it('is between halfway and the expiry, whatever is drawn', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        random,
        fc.integer({ min: 0, max: 1e9 }),
        fc.integer({ min: 1, max: 1e9 }),
        (drawn, ms, delay) => {
          const next = probabilisticEarly(delay, { beta: 5 }).nextExecuteTime({
            ...took(ms),
            random: () => drawn,
          });
          expect(next).toBeGreaterThan(NOW);
          expect(next).toBeGreaterThanOrEqual(NOW + delay / 2 - 0.001);
          expect(next).toBeLessThanOrEqual(NOW + delay);
        },
      ),
    );
  });

  it('counts halfway from the instant of asking', () => {
    const schedule = probabilisticEarly(60_000);
    const late = { ...took(1e9), random: () => 0.9, now: NOW + 40_000 };
    expect(schedule.nextExecuteTime(late)).toBe(NOW + 50_000);
    expect(schedule.nextExecuteTime({ ...late, now: NOW + 70_000 })).toBe(NOW + 60_000);
  });

  it('is on time after an execution that took none', () => {
    expect(probabilisticEarly(60_000).nextExecuteTime(took(0))).toBe(NOW + 60_000);
  });

  it('leaves never as it is, a broken answer broken, and passes staleness on', () => {
    expect(probabilisticEarly(Infinity).nextExecuteTime(took(100))).toBe(Number.POSITIVE_INFINITY);
    expect(probabilisticEarly(() => Number.NaN).nextExecuteTime(took(100))).toBeNaN();
    const knowing = { nextExecuteTime: () => 5, maxStaleness: () => 70 };
    expect(probabilisticEarly(knowing).maxStaleness?.(took(1))).toBe(70);
    expect(probabilisticEarly(1000).maxStaleness?.(took(1))).toBeUndefined();
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1'])('rejects the beta %o', (beta) => {
    expect(optionErrorOf(() => probabilisticEarly(1000, { beta: beta as number })).message).toContain(
      'probabilisticEarly: beta must be a positive finite number',
    );
  });
});
