import { checkNames, reject } from './check.ts';
import type { ZoneOptions } from './daily-at.ts';
import { DAY_MS, type LocalClock, localClock } from './local-time.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { timeOfDay } from './time-of-day.ts';
import { requireSchedule } from './to-schedule.ts';

/** The hours of {@link duringHours}. */
export interface HoursOptions extends ZoneOptions {
  /** When the hours open, `HH:mm` or `HH:mm:ss` of the wall clock; this instant is inside. */
  readonly from: string;
  /** When they close; this instant is outside. Earlier than `from` means on the next day. */
  readonly to: string;
  /**
   * The weekdays on which they open, 1 for Monday to 7 for Sunday; at least one. With 5 among them, hours from 22:00
   * to 06:00 last into Saturday morning.
   *
   * @default undefined: every day
   */
  readonly days?: readonly number[] | undefined;
}

/**
 * Executes as the schedule says, but only during certain hours: an instant outside them is put off to the next
 * opening. Reads are served at any hour, and executions that are forced are not held back. `maxStaleness` is passed
 * on: an age that is over its limit outside the hours is still over it.
 *
 * All instances come due at the opening together; `withJitter` around this one spreads them. `fixedRate` in it
 * needs `anchoredAt`, or its grid goes on from the opening.
 *
 * When the clocks change, the hours still open and close once: a time that does not exist counts as the first
 * instant after the gap, one that occurs twice as the first time. Hours that lie in a gap whole are left out.
 *
 * @throws {OptionError} when `schedule` is no schedule, a time is malformed, `from` equals `to`, a day is not one of
 * 1 to 7, or the zone is unknown.
 */
export function duringHours(schedule: ScheduleLike, hours: HoursOptions): Schedule {
  const inner = requireSchedule('duringHours', 'schedule', schedule);
  checkNames('duringHours', hours, ['from', 'to', 'zone', 'days']);
  const fromMs = timeOfDay('duringHours', 'from', hours.from);
  const toMs = timeOfDay('duringHours', 'to', hours.to);
  if (fromMs === toMs) reject('duringHours', 'to', 'must differ from "from"', hours.to);
  const days = checkDays(hours.days ?? [1, 2, 3, 4, 5, 6, 7]);
  const clock = localClock('duringHours', hours.zone);
  const window = { fromMs, toMs: fromMs < toMs ? toMs : toMs + DAY_MS, days };
  return {
    nextExecuteTime: (execution) => firstInside(clock, window, inner.nextExecuteTime(execution)),
    maxStaleness: (execution) => inner.maxStaleness?.(execution),
  };
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly days: ReadonlySet<number>;
}

/** Three weeks are enough for a weekly opening, also when one of them is lost to a gap. */
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
  return Number.POSITIVE_INFINITY; // beyond the last day that a Date can hold
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
