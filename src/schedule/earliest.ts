import { reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/**
 * Due as soon as one of the schedules is: `earliest({ hours: 1 }, dailyAt('05:00'))` executes every hour, and at
 * five sharp. If several of them know how stale a value may become, the smallest age holds.
 *
 * A schedule that throws or answers `NaN` makes the whole do so, rather than hide behind the others.
 *
 * @param schedules at least one.
 * @throws {OptionError} when there is none, or one of them is no schedule.
 */
export function earliest(...schedules: ScheduleLike[]): Schedule {
  if (schedules.length === 0) reject('earliest', 'schedules', 'must be at least one schedule', schedules);
  const all = schedules.map((schedule, index) =>
    requireSchedule('earliest', `schedules[${index}]`, schedule),
  );
  return {
    nextExecuteTime: (execution) => Math.min(...all.map((schedule) => schedule.nextExecuteTime(execution))),
    maxStaleness: (execution) => {
      const limits = all.map((schedule) => schedule.maxStaleness?.(execution));
      const known = limits.filter((limit) => limit !== undefined);
      return known.length === 0 ? undefined : Math.min(...known);
    },
  };
}
