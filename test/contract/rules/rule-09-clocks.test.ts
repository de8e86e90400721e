import { describe, expect, it } from 'vitest';
import { cron, dailyAt } from '../../../src/calendar/index.ts';
import {
  fixedRate,
  type LoadReturn,
  loaded,
  type RefreshingValue,
  type ScheduleLike,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { fakeValue } from '../../support/manual-value.ts';

const HOUR = 3_600_000;

/** Reads once a second, for a number of seconds; returns after how many of them a reload came. */
async function readEverySecond(
  value: RefreshingValue<number>,
  clock: FakeClock,
  seconds: number,
): Promise<number[]> {
  const reloads: number[] = [];
  let second = 0;
  const off = value.on('load-started', () => void reloads.push(second));
  for (second = 1; second <= seconds; second++) {
    await clock.advance(1000);
    value.current;
  }
  await clock.flush();
  off();
  return reloads;
}

function make(schedule: ScheduleLike, now: string) {
  let loads = 0;
  return fakeValue(() => ++loads, { schedule, clock: new FakeClock({ now }) });
}

describe('rule 9: durations by the monotonic clock, calendar schedules by the wall clock', () => {
  for (const [name, schedule] of [
    ['a duration', { minutes: 10 }],
    ['fixedRate', fixedRate({ minutes: 10 })],
    ['a function of endedAt', ({ endedAt }: { endedAt: number }) => endedAt + 600_000],
  ] as const) {
    for (const step of [-5 * HOUR, -HOUR, HOUR, 5 * HOUR]) {
      it(`${name} reloads when due by elapsed time after a step of ${step / HOUR} h`, async () => {
        const { clock, value } = make(schedule as ScheduleLike, '2026-06-01T12:00:00Z');
        value.current;
        expect(await readEverySecond(value, clock, 100)).toEqual([]);
        clock.stepWall(step);
        expect(await readEverySecond(value, clock, 1200)).toEqual([500, 1100]);
      });
    }
  }

  it('an answer of the load itself is a duration', async () => {
    let loads = 0;
    const { clock, value } = fakeValue((): LoadReturn<number> => loaded(++loads, { dueAfter: 600_000 }));
    value.current;
    clock.stepWall(HOUR);
    expect(await readEverySecond(value, clock, 700)).toEqual([600]);
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + 500_000);
  });

  it('a grid stays where it is by elapsed time, also when a load had the last word before the step', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(
      (): LoadReturn<number> => (++loads === 2 ? loaded(loads, { dueAfter: 150_000 }) : loads),
      { schedule: fixedRate({ minutes: 10 }), clock: new FakeClock({ now: '2026-06-01T12:00:00Z' }) },
    );
    value.current;
    expect(await readEverySecond(value, clock, 601)).toEqual([600]);
    clock.stepWall(HOUR + 123_456);
    // 750 s after the start by the word of the load, then on the grid of 600 s again.
    expect(await readEverySecond(value, clock, 1300)).toEqual([149, 599, 1199]);
  });

  for (const [name, schedule] of [
    ['dailyAt', dailyAt('05:00', { zone: 'UTC' })],
    ['cron', cron('0 5 * * *', { zone: 'UTC' })],
  ] as const) {
    it(`${name} follows a step forward over its time within a minute of reads`, async () => {
      const { clock, value } = make(schedule, '2026-06-01T04:00:00Z');
      value.current;
      clock.stepWall(2 * HOUR);
      const [reload, ...others] = await readEverySecond(value, clock, 600);
      expect(reload).toBeLessThanOrEqual(61);
      expect(others).toEqual([]);
      expect(value.inspect().nextExecuteTime).toBe(Date.UTC(2026, 5, 2, 5));
    });

    it(`${name} follows a step back: the time that comes again is met again`, async () => {
      const { clock, value } = make(schedule, '2026-06-01T05:30:00Z');
      value.current;
      clock.stepWall(-HOUR);
      const [reload, ...others] = await readEverySecond(value, clock, 2000);
      expect(reload).toBeGreaterThanOrEqual(1799);
      expect(reload).toBeLessThanOrEqual(1801);
      expect(others).toEqual([]);
    });
  }

  it('a suspended machine that wakes past a calendar time reloads once', async () => {
    const { clock, value } = make(dailyAt('05:00', { zone: 'Europe/Amsterdam' }), '2026-06-01T20:00:00Z');
    value.current;
    clock.stepWall(3 * 24 * HOUR);
    expect(await readEverySecond(value, clock, 300)).toHaveLength(1);
  });

  it('a clock that is slewed, or stepped by less than a second, changes nothing', async () => {
    const { clock, value } = make({ minutes: 10 }, '2026-06-01T12:00:00Z');
    value.current;
    clock.stepWall(900);
    expect(await readEverySecond(value, clock, 700)).toEqual([600]);
  });

  it('age and loadedAt stay in step with the clock of the reader', async () => {
    const { clock, value } = make({ minutes: 10 }, '2026-06-01T12:00:00Z');
    value.current;
    await clock.advance(90_000);
    clock.stepWall(-HOUR);
    value.current;
    const { age, loadedAt } = value.inspect();
    expect(age).toBe(90_000);
    expect(loadedAt).toBe(clock.now() - 90_000);
  });

  it('a schedule that breaks when asked again after a step is reported, and cooled down', async () => {
    const logger = recordLines();
    let asked = 0;
    let loads = 0;
    const { clock, value } = fakeValue(() => ++loads, {
      schedule: ({ endedAt }) => (++asked === 2 ? Number.NaN : endedAt + HOUR),
      logger,
    });
    value.current;
    clock.stepWall(HOUR);
    expect(await readEverySecond(value, clock, 70)).toHaveLength(1);
    expect(logger.lines).toEqual([
      expect.stringContaining('next load in'),
      expect.stringContaining('the schedule has recovered'),
    ]);
    expect(loads).toBe(2);
  });
});
