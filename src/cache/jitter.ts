import { methodOf } from '../plain-object.ts';
import type { Execution, Schedule } from '../schedule/schedule.ts';
import type { JitterWidth } from '../schedule/with-jitter.ts';

/**
 * Spreads keys that were loaded together within their period, none later than the schedule returns: the first due time of a
 * key, and the first one after a load that came late (after a pause in reads, an outage), is a random instant of the last nine
 * tenths of the time until then. Later ones are those of the schedule, so that the distances stay.
 */
export function spreadFirst(schedule: Schedule): Schedule {
  return spreadBy(schedule, ({ startedAt, endedAt, dueAt, maxStaleness = Infinity }, next) => {
    const latest = Math.min(next, endedAt + maxStaleness);
    const tenth = (latest - endedAt) / 10;
    const isInStep = dueAt !== undefined && startedAt - dueAt <= tenth;
    return [isInStep ? latest : endedAt + tenth, latest];
  });
}

/**
 * Spreads keys that were loaded together by a window after the instant of the schedule: each is due at a random
 * instant of a window that begins when the schedule says. Where the age limit leaves no room for the window after that, it begins
 * earlier, but not before half of the time.
 *
 * @param width returns the width of the window, from the time between the load and the schedule's instant.
 */
export function jittered(schedule: Schedule, width: JitterWidth): Schedule {
  return spreadBy(schedule, ({ endedAt, maxStaleness = Infinity }, next) => {
    const widthMs = width(next - endedAt);
    const limit = endedAt + maxStaleness;
    const latest = Math.min(next + widthMs, limit);
    const halfway = endedAt + (Math.min(next, limit) - endedAt) / 2;
    return [Math.min(next, Math.max(halfway, latest - widthMs)), latest];
  });
}

/**
 * Draws from a window. A second call for the same execution returns the first result while that is within the window;
 * otherwise it draws from the rest of the window.
 */
function spreadBy(
  schedule: Schedule,
  windowOf: (execution: Execution, next: number) => readonly [earliest: number, latest: number],
): Schedule {
  function nextExecuteTime(execution: Execution): number {
    const next = schedule.nextExecuteTime(execution);
    const { endedAt, now = endedAt, answered, random = Math.random } = execution;
    if (!(next > endedAt && next < Infinity)) return next;
    const [earliest, latest] = windowOf(execution, next);
    if (answered !== undefined && answered >= earliest && answered <= latest) return answered;
    const begin = Math.max(earliest, Math.min(now, latest));
    return begin + random() * (latest - begin);
  }
  return {
    nextExecuteTime,
    maxStaleness: (execution) => methodOf(schedule, 'maxStaleness')?.call(schedule, execution),
  };
}
