import { methodOf } from '../plain-object.ts';
import type { Execution, Schedule } from '../schedule/schedule.ts';
import { hasJitter } from '../schedule/with-jitter.ts';

/** How far apart keys fall due after an instant of a calendar, as a share of the time from their load to it. */
const CALENDAR_RATIO = 0.1;

/**
 * The schedule of keys, by which those that were loaded together don't fall due together. One with a jitter of its own stays as it is.
 *
 * @param periodMs the schedule in milliseconds, where it is a duration; else NaN.
 */
export function spread(schedule: Schedule, periodMs: number): Schedule {
  if (hasJitter(schedule)) return schedule;
  return Number.isNaN(periodMs) ? spreadAfter(schedule) : spreadFirst(schedule);
}

/**
 * Spreads keys that were loaded together within their period, none later than the schedule returns: the first due time of a
 * key, and the first one after a load that came late (after a pause in reads, an outage), is a random instant of the last nine
 * tenths of the time until then. Later ones are those of the schedule, so that the distances stay.
 */
function spreadFirst(schedule: Schedule): Schedule {
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
 */
function spreadAfter(schedule: Schedule): Schedule {
  return spreadBy(schedule, ({ endedAt, maxStaleness = Infinity }, next) => {
    const widthMs = CALENDAR_RATIO * (next - endedAt);
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
  const maxStaleness = methodOf(schedule, 'maxStaleness')?.bind(schedule);
  return maxStaleness === undefined ? { nextExecuteTime } : { nextExecuteTime, maxStaleness };
}
