import { Duration } from 'luxon';
import { describe, expect, it } from 'vitest';
import type { ScheduleLike } from '../../../src/schedule/schedule.ts';
import { requireSchedule, toSchedule } from '../../../src/schedule/to-schedule.ts';
import type { DurationLike } from '../../../src/time/duration.ts';
import { endedAt, optionErrorOf } from './support.ts';

describe('toSchedule', () => {
  it('returns a schedule as it is, an instance of a class too', () => {
    class Hourly {
      nextExecuteTime({ endedAt }: { endedAt: number }): number {
        return endedAt + 3_600_000;
      }
    }
    const hourly = new Hourly();
    expect(toSchedule(hourly)).toBe(hourly);
  });

  it('takes a function for nextExecuteTime', () => {
    const schedule = toSchedule((execution) => execution.endedAt + 7);
    expect(schedule?.nextExecuteTime(endedAt(1000))).toBe(1007);
  });

  it.each(['1m', { minutes: 1 }, Duration.fromObject({ minutes: 1 })])(
    'takes a duration that a function returns as one from the end: %o',
    (period) => {
      const settings = { current: { period } };
      expect(toSchedule(() => settings.current.period)?.nextExecuteTime(endedAt(5000))).toBe(65_000);
    },
  );

  it.each([undefined, 'soon', '0s', {}, Number.NaN, -5])(
    'leaves %o, returned by a function, to be refused',
    (result) => {
      expect(toSchedule(() => result as DurationLike)?.nextExecuteTime(endedAt(5000))).toBe(result);
    },
  );

  it.each<DurationLike>([
    60_000,
    { minutes: 1 },
    { toMillis: () => 60_000 },
    Duration.fromObject({ minutes: 1 }),
  ])('takes a duration for a fixed delay: %o', (duration) => {
    expect(toSchedule(duration)?.nextExecuteTime({ startedAt: 0, endedAt: 5000 })).toBe(65_000);
  });

  it.each([
    0,
    -1,
    Number.NaN,
    {},
    { fortnights: 1 },
    { minutes: -1 },
    null,
    undefined,
    '10 mn',
    true,
    [],
    { nextExecuteTime: 5 },
  ])('does not know %o', (value) => {
    expect(toSchedule(value as ScheduleLike)).toBeUndefined();
    const error = optionErrorOf(() => requireSchedule('withJitter', 'schedule', value as ScheduleLike));
    expect(error.message).toMatch(
      /^withJitter: schedule must be a schedule, a function or a positive duration.*, received /,
    );
  });
});
