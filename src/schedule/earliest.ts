import { wrapped } from './calendar.ts';
import { reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/**
 * Due as soon as one of the schedules is: `earliest({ hours: 1 }, dailyAt('05:00'))` executes every hour, and at five
 * sharp. If several of them limit the age (`maxStaleness`), the smallest limit applies.
 *
 * If a schedule throws or returns `NaN`, so does the result: an error is never hidden by the other schedules.
 *
 * @param schedules at least one.
 * @throws {TicklessError} `OPTION` without any schedule, or when an argument is not a schedule.
 */
export function earliest(...schedules: ScheduleLike[]): Schedule {
  if (schedules.length === 0) reject('earliest', 'schedules', 'must have at least one schedule', schedules);
  const all = schedules.map((schedule, index) =>
    requireSchedule('earliest', `schedules[${index}]`, schedule),
  );
  const schedule: Schedule = {
    nextExecuteTime: (execution) => Math.min(...all.map((schedule) => schedule.nextExecuteTime(execution))),
    maxStaleness: (execution) => {
      const limits = all.map((schedule) => schedule.maxStaleness?.(execution));
      const known = limits.filter((limit) => limit !== undefined);
      return known.length === 0 ? undefined : Math.min(...known);
    },
  };
  return wrapped(schedule, ...all);
}
