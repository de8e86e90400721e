import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixedRate } from '../../../src/schedule/fixed-rate.ts';
import type { Execution } from '../../../src/schedule/schedule.ts';
import { withJitter } from '../../../src/schedule/with-jitter.ts';

const PERIOD = 60_000;
const START = Date.UTC(2026, 0, 1, 0, 0, 7, 123);

describe('fixedRate', () => {
  it('begins its grid at the start of the first execution', () => {
    expect(fixedRate(PERIOD).nextExecuteTime({ startedAt: START, endedAt: START + 5000 })).toBe(
      START + PERIOD,
    );
  });

  it('is not due again at the instant at which it ended', () => {
    const execution = { startedAt: START, endedAt: START + 3 * PERIOD, dueAt: START };
    expect(fixedRate(PERIOD).nextExecuteTime(execution)).toBe(START + 4 * PERIOD);
  });

  it('is always later than the end, with fractions too', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 1e9, noNaN: true }),
        fc.nat(1_000_000),
        fc.integer({ min: -1000, max: 1000 }),
        (period, took, k) => {
          const endedAt = START + took;
          const next = fixedRate(period).nextExecuteTime({
            startedAt: START,
            endedAt,
            dueAt: endedAt + k * period,
          });
          expect(next).toBeGreaterThan(endedAt);
          expect(next).toBeLessThanOrEqual(endedAt + period * 1.01);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never comes with an endless period', () => {
    for (const dueAt of [undefined, START - 5, START + 5]) {
      expect(
        fixedRate(Number.POSITIVE_INFINITY).nextExecuteTime({ startedAt: START, endedAt: START, dueAt }),
      ).toBe(Number.POSITIVE_INFINITY);
    }
  });

  describe('with an anchor', () => {
    it.each([0, new Date(0), Date.UTC(2099, 0, 1)])('has its grid there: %o', (anchoredAt) => {
      const schedule = fixedRate({ hours: 1 }, { anchoredAt });
      const ended = Date.UTC(2026, 0, 1, 10, 20);
      expect(schedule.nextExecuteTime({ startedAt: ended, endedAt: ended, dueAt: ended - 7 })).toBe(
        Date.UTC(2026, 0, 1, 11),
      );
    });

    it('follows the wall clock: an instant that the clock was stepped over is not skipped', () => {
      const execution = { startedAt: 9e6, endedAt: 9e6, since: 3.5e6, now: 9e6 };
      expect(fixedRate({ hours: 1 }, { anchoredAt: 0 }).nextExecuteTime(execution)).toBe(3.6e6);
      expect(fixedRate({ hours: 1 }).nextExecuteTime(execution)).toBe(9e6 + 3.6e6);
    });

    it('does not drift under jitter', () => {
      const schedule = withJitter(fixedRate(PERIOD, { anchoredAt: 0 }), 10_000);
      let execution: Execution = { startedAt: START, endedAt: START };
      for (let run = 0; run < 1000; run++) {
        const dueAt = schedule.nextExecuteTime(execution);
        expect(dueAt % PERIOD).toBeLessThan(10_000);
        execution = { startedAt: dueAt, endedAt: dueAt + 5, dueAt };
      }
    });
  });
});
