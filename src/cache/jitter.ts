import { methodOf } from '../plain-object.ts';
import type { Execution, Schedule } from '../schedule/schedule.ts';
import type { JitterWidth } from '../schedule/with-jitter.ts';

/**
 * Spreads keys that were loaded together, so that they do not fall due together: each is due at a random instant of a
 * window that begins when the schedule says. Where the age limit leaves no room for the window after that, it begins
 * earlier, but not before half of the time.
 *
 * A second call for the same execution returns the first result while that is within the window; otherwise it draws
 * from the rest of the window.
 *
 * @param width returns the width of the window, from the time between the load and the schedule's instant.
 */
export function jittered(schedule: Schedule, width: JitterWidth): Schedule {
  function nextExecuteTime(execution: Execution): number {
    const next = schedule.nextExecuteTime(execution);
    const { endedAt, now = endedAt, answered, random = Math.random, maxStaleness = Infinity } = execution;
    if (!(next > endedAt && next < Infinity)) return next;
    const widthMs = width(next - endedAt);
    const limit = endedAt + maxStaleness;
    const latest = Math.min(next + widthMs, limit);
    const halfway = endedAt + (Math.min(next, limit) - endedAt) / 2;
    const earliest = Math.min(next, Math.max(halfway, latest - widthMs));
    if (answered !== undefined && answered >= earliest && answered <= latest) return answered;
    const begin = Math.max(earliest, Math.min(now, latest));
    return begin + random() * (latest - begin);
  }
  return {
    nextExecuteTime,
    maxStaleness: (execution) => methodOf(schedule, 'maxStaleness')?.call(schedule, execution),
  };
}
