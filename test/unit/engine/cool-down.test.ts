import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CoolDown, coolDownMs } from '../../../src/engine/cool-down.ts';
import { FITS, misfit, seeded, uniform } from '../../support/distribution.ts';

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** Ordinary cool-downs, and the extremes that the options allow. */
const coolDowns: fc.Arbitrary<CoolDown> = fc
  .record({
    initialMs: fc.oneof(
      fc.double({ min: 1, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-300, max: Number.MAX_VALUE, noNaN: true }),
    ),
    factor: fc.oneof(
      fc.double({ min: 1, max: 10, noNaN: true }),
      fc.constantFrom(1, 1 + Number.EPSILON, Number.MAX_VALUE),
    ),
    times: fc.oneof(fc.double({ min: 1, max: 1000, noNaN: true }), fc.constant(Infinity)),
  })
  .map(({ initialMs, factor, times }) => ({
    initialMs,
    isMaxDefault: false,
    factor,
    maxMs: Math.min(Number.MAX_VALUE, initialMs * times),
  }));

const failureCounts = fc.oneof(
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 1, max: 5000 }),
  fc.constantFrom(1, 2 ** 31, 1e9, Number.MAX_SAFE_INTEGER),
);

/** The whole span after a number of failures; a cool-down is at least half of it. */
const span = (coolDown: CoolDown, failures: number): number => coolDownMs(coolDown, failures, 0) * 2;

describe('coolDownMs', () => {
  it('is between half and all of the span, finite and over 0, after any number of failures', () => {
    fc.assert(
      fc.property(coolDowns, failureCounts, random, (coolDown, failures, drawn) => {
        const ms = coolDownMs(coolDown, failures, drawn);
        const { initialMs, factor, maxMs } = coolDown;
        const all = Math.min(maxMs, initialMs * factor ** (failures - 1));
        expect(ms).toBeGreaterThanOrEqual(all / 2);
        expect(ms).toBeLessThanOrEqual(all);
        expect(ms).toBeGreaterThan(0);
        expect(ms).toBeLessThanOrEqual(maxMs);
        expect(ms).toBeGreaterThanOrEqual(initialMs / 2);
      }),
      { numRuns: 3000 },
    );
  });

  it('starts with the initial span, grows by the factor with each failure, and stays at the cap', () => {
    fc.assert(
      fc.property(coolDowns, fc.integer({ min: 1, max: 100 }), random, (coolDown, failures, drawn) => {
        const { initialMs, factor, maxMs } = coolDown;
        expect(span(coolDown, 1)).toBe(initialMs);
        const grown = span(coolDown, failures) * factor;
        const next = span(coolDown, failures + 1);
        if (grown > maxMs * 1.000001) expect(next).toBe(maxMs);
        else expect(next / Math.min(grown, maxMs)).toBeCloseTo(1, 6);
        expect(coolDownMs(coolDown, failures + 1, drawn)).toBeGreaterThanOrEqual(
          coolDownMs(coolDown, failures, drawn),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    [1, 1000],
    [4, 8000],
    [50, 120_000],
  ])('after %i failures is uniform between half and all of %i ms', (failures, all) => {
    const draw = seeded();
    const coolDown = { initialMs: 1000, factor: 2, maxMs: 120_000, isMaxDefault: false };
    const samples = Array.from({ length: 20_000 }, () => coolDownMs(coolDown, failures, draw()));
    expect(misfit(samples, uniform(all / 2, all))).toBeLessThan(FITS);
  });
});
