import { ownOptions } from '../option-checks.ts';
import { asCalendar } from '../schedule/calendar.ts';
import { checkNames, reject } from '../schedule/check.ts';
import type { Schedule, ScheduleLike } from '../schedule/schedule.ts';
import { requireSchedule } from '../schedule/to-schedule.ts';
import type { ZoneOptions } from './daily-at.ts';
import { DAY_MS, type LocalClock, localClock } from './local-time.ts';
import { timeOfDay } from './time-of-day.ts';

/** Options of {@link duringHours}. */
export interface HoursOptions extends ZoneOptions {
  /** Opening time, `HH:mm` or `HH:mm:ss` of the wall clock; this instant is inside. */
  readonly from: string;
  /** Closing time; this instant is outside. A time earlier than `from` is on the next day. */
  readonly to: string;
  /**
   * Weekdays on which the hours open, 1 for Monday to 7 for Sunday; at least one. With 5 in the list, hours from 22:00
   * to 06:00 last into Saturday morning.
   *
   * @default undefined: every day
   */
  readonly days?: readonly number[] | undefined;
}

/**
 * Executes by another schedule, but only during certain hours: an instant outside of them moves to the next opening.
 * Reads are served at any hour, and forced executions start at any hour. `maxStaleness` is passed on unchanged: a value
 * can become too stale outside of the hours.
 *
 * All instances become due together at the opening; wrap this schedule in `withJitter` to spread them. A `fixedRate`
 * inside needs `anchoredAt`, else its grid continues from the opening.
 *
 * When the clocks change, the hours still open and close once: a time that does not exist means the first instant after
 * the gap, a time that occurs twice means its first occurrence. Hours entirely inside a gap are skipped.
 *
 * @throws {TicklessError} `OPTION` when `schedule` is not a schedule, a time is malformed, `from` equals `to`, a day is not an
 * integer from 1 to 7, or the zone is unknown.
 */
export function duringHours(schedule: ScheduleLike, given: HoursOptions): Schedule {
  const inner = requireSchedule('duringHours', 'schedule', schedule);
  checkNames('duringHours', given, ['from', 'to', 'zone', 'days']);
  const hours = ownOptions(given);
  const fromMs = timeOfDay('duringHours', 'from', hours.from);
  const toMs = timeOfDay('duringHours', 'to', hours.to);
  if (fromMs === toMs) reject('duringHours', 'to', 'must differ from "from"', hours.to);
  const days = checkDays(hours.days ?? [1, 2, 3, 4, 5, 6, 7]);
  const clock = localClock('duringHours', hours.zone);
  const window = { fromMs, toMs: fromMs < toMs ? toMs : toMs + DAY_MS, days };
  return asCalendar({
    nextExecuteTime: (execution) => firstInside(clock, window, inner.nextExecuteTime(execution)),
    maxStaleness: (execution) => inner.maxStaleness?.(execution),
  });
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly days: ReadonlySet<number>;
}

/** Three weeks include a weekly opening even if a gap removes one. */
const DAYS_TO_SEARCH = 21;

function firstInside(clock: LocalClock, { fromMs, toMs, days }: Window, instant: number): number {
  if (!Number.isFinite(instant)) return instant;
  const today = Math.floor(clock.wallTimeAt(instant) / DAY_MS);
  for (let day = today - 1; day <= today + DAYS_TO_SEARCH; day++) {
    if (!days.has(isoWeekday(day))) continue;
    const opensAt = clock.instantOf(day * DAY_MS + fromMs);
    const closesAt = clock.instantOf(day * DAY_MS + toMs);
    if (opensAt < closesAt && instant < closesAt) return Math.max(instant, opensAt);
  }
  return Infinity; // beyond the last day that a Date can hold
}

/** 1970-01-01, day 0, was a Thursday. */
function isoWeekday(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

function checkDays(days: readonly number[]): ReadonlySet<number> {
  const rule = 'must be a list of at least one weekday from 1 (Monday) to 7 (Sunday)';
  if (!Array.isArray(days) || days.length === 0) reject('duringHours', 'days', rule, days);
  if (!days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)) {
    reject('duringHours', 'days', rule, days);
  }
  return new Set(days);
}
