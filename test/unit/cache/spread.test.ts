import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spread } from '../../../src/cache/spread.ts';
import { type Execution, fixedDelay, type Schedule, withJitter } from '../../../src/index.ts';
import { FITS, misfit, seeded, uniform } from '../../support/distribution.ts';

const PERIOD = 600_000;
const END = Date.UTC(2026, 0, 1);
const loaded = { startedAt: END, endedAt: END, now: END };

/** As of a schedule that is not a duration. */
const spreadAfter = (schedule: Schedule): Schedule => spread(schedule, Number.NaN);

/** When after their load keys fall due that were loaded together, in periods. */
function waits(maxStaleness: number): number[] {
  const random = seeded();
  const schedule = spreadAfter(fixedDelay(PERIOD));
  return Array.from(
    { length: 20_000 },
    () => (schedule.nextExecuteTime({ ...loaded, random, maxStaleness }) - END) / PERIOD,
  );
}

describe('spread', () => {
  it.each([
    ['over a tenth of the time', Infinity, 1, 1.1],
    ['where the age limit ends the window, over one as wide before it', 1.05 * PERIOD, 0.95, 1.05],
    ['where it comes before the schedule, over one as wide before it', PERIOD / 4, 0.15, 0.25],
    ['where it leaves no room, from half of it on', PERIOD / 10, 0.05, 0.1],
  ])('draws uniformly %s', (_, maxStaleness, from, to) => {
    expect(misfit(waits(maxStaleness), uniform(from, to))).toBeLessThan(FITS);
  });

  it('never leaves its bounds: not after the age limit, not before half of the time, not before now', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const duration = fc.integer({ min: 1, max: 1e9 });
    fc.assert(
      fc.property(
        duration,
        fc.oneof(duration, fc.constant(Infinity)),
        fc.oneof(fc.constant(0), duration),
        fc.oneof(fc.constant(undefined), duration),
        random,
        (delay, maxStaleness, elapsed, before, drawn) => {
          const schedule = spreadAfter(fixedDelay(delay));
          const answered = before === undefined ? undefined : END + before;
          const asked = { ...loaded, now: END + elapsed, maxStaleness, answered, random: () => drawn };
          const wait = schedule.nextExecuteTime(asked) - END;
          const least = Math.min(delay, maxStaleness) / 2;
          const most = Math.min(delay * 1.1, Math.max(maxStaleness, 0));
          expect(wait).toBeGreaterThanOrEqual(least - 0.001);
          expect(wait).toBeLessThanOrEqual(most + 0.001);
          // Asked again, it keeps its answer, or draws from what is left of the window.
          if (wait + END !== answered) expect(wait).toBeGreaterThanOrEqual(Math.min(elapsed, most) - 0.001);
          const again = schedule.nextExecuteTime({ ...asked, answered: END + wait, random: () => 0.5 });
          expect(again).toBe(END + wait);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('within the period is only for a first load and a late one, and keeps within the age limit', () => {
    const schedule = spread(fixedDelay(PERIOD), PERIOD);
    const waitOf = (execution: Partial<Execution>, drawn = 0): number =>
      (schedule.nextExecuteTime({ ...loaded, random: () => drawn, ...execution }) - END) / PERIOD;
    const tenth = PERIOD / 10;
    expect([waitOf({}), waitOf({}, 0.5)]).toEqual([0.1, 0.55]);
    expect(waitOf({ dueAt: END - tenth - 1 })).toBe(0.1);
    expect([waitOf({ dueAt: END - tenth }), waitOf({ dueAt: END + tenth })]).toEqual([1, 1]);
    expect([waitOf({ maxStaleness: PERIOD / 2 }), waitOf({ maxStaleness: PERIOD / 2 }, 0.5)]).toEqual([
      0.05, 0.275,
    ]);
    expect(waitOf({ now: END + PERIOD / 2, answered: END + 3 * tenth }, 0.9)).toBe(0.3);
    expect(waitOf({ now: END + PERIOD / 2 })).toBe(0.5);
  });

  it('leaves never as it is, and a broken answer broken', () => {
    expect(spreadAfter(fixedDelay(Infinity)).nextExecuteTime(loaded)).toBe(Infinity);
    expect(spreadAfter({ nextExecuteTime: () => Number.NaN }).nextExecuteTime(loaded)).toBeNaN();
    expect(spreadAfter({ nextExecuteTime: () => END }).nextExecuteTime(loaded)).toBe(END);
  });

  it('leaves a schedule with a jitter of its own as it is', () => {
    const jittered = withJitter(PERIOD, 0);
    expect([spread(jittered, Number.NaN), spread(jittered, PERIOD)]).toEqual([jittered, jittered]);
    expect(spread(jittered, Number.NaN).nextExecuteTime({ ...loaded, random: () => 0.5 })).toBe(END + PERIOD);
  });
});
