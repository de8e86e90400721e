import { Cron } from 'croner';
import { ownOptions } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { asCalendar } from '../schedule/calendar.ts';
import { checkNames, reject } from '../schedule/check.ts';
import type { Schedule, ScheduleLike } from '../schedule/schedule.ts';
import { requireSchedule } from '../schedule/to-schedule.ts';
import { DAY_MS, type LocalClock, localClock, timeOfDay } from './local-time.ts';

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

/** Time zone of a calendar schedule. */
export interface ZoneOptions {
  /**
   * An IANA time zone: `Europe/Amsterdam`, `UTC`. Set it explicitly: the zone of a container is usually UTC.
   *
   * @default undefined: the zone of the machine (the environment variable TZ)
   */
  readonly zone?: string | undefined;
}

/**
 * Executes once a day at a time of the wall clock: at the first such instant after the last execution (`since`). Days
 * without a read collapse into one execution.
 *
 * When the clocks change, a time that does not exist on that day executes at the first instant after the gap; a time
 * that occurs twice executes only the first time.
 *
 * @param time `HH:mm` or `HH:mm:ss`, from 00:00 to 23:59:59.
 * @throws {TicklessError} `OPTION` when `time` is not such a time, or the zone is unknown.
 */
export function dailyAt(time: string, options: ZoneOptions = {}): Schedule {
  const timeMs = timeOfDay('dailyAt', 'time', time);
  checkNames('dailyAt', options, ['zone']);
  const { zone } = ownOptions(options);
  const clock = localClock('dailyAt', zone);
  const following = (wallTime: number): number =>
    (Math.floor((wallTime - timeMs) / DAY_MS) + 1) * DAY_MS + timeMs;
  const nextExecuteTime: Schedule['nextExecuteTime'] = ({ endedAt, since = endedAt }) =>
    clock.firstAfter(since, following);
  return asCalendar({ nextExecuteTime });
}

/**
 * Executes at the instants of a cron expression: at the first one after the last execution (`since`). Instants that
 * passed without a read collapse into one execution. An expression without further matches is never due (`Infinity`).
 * It starts no timer.
 *
 * croner parses the expression. It has five fields, `minute hour day-of-month month weekday`; six, with seconds first;
 * or seven, with years last. Each field takes `*`, lists `1,15`, ranges `9-17` and steps `0-59/10`, names (`JAN`,
 * `MON`), and weekdays 0 to 7 from Sunday to Sunday. `L` is the last day of the month, `5L` its last Friday, `15W` the
 * working day nearest to the 15th, `5#2` the second Friday. If both day fields are restricted, one of them has to match;
 * both with a `+` before the weekday. `@daily`, `@hourly` and similar names stand for whole expressions.
 *
 * When the clocks change, an expression with definite times (no `*`, `?` or step in seconds, minutes and hours) behaves
 * as `dailyAt`: a time that does not exist executes at the first instant after the gap, a time that occurs twice
 * executes only the first time. Other expressions follow the clock: times in a gap are skipped, times that occur twice
 * execute twice.
 *
 * @param line the cron expression.
 * @param options `zone`: an IANA time zone. @default the zone of the machine
 * @throws {TicklessError} `OPTION` when the expression is invalid (with croner's error as `cause`), or the zone is unknown.
 */
export function cron(line: string, options: ZoneOptions = {}): Schedule {
  checkNames('cron', options, ['zone']);
  const { zone } = ownOptions(options);
  const clock = localClock('cron', zone);
  const isDefinite = hasDefiniteTimes(checkLine(line));
  // Definite times are matched on a wall clock without changes, and then placed in the zone by `localClock`: croner
  // skips a time whose gap ends on the next day (23:30 in America/Nuuk on the last Saturday of March).
  const following = nextRunOf(line, isDefinite ? 'UTC' : zone);
  const nextExecuteTime: Schedule['nextExecuteTime'] = ({ endedAt, since = endedAt }) =>
    isDefinite ? clock.firstAfter(since, following) : following(since);
  return asCalendar({ nextExecuteTime });
}

/** Returns the first match of the expression after an instant, or `Infinity`. */
function nextRunOf(line: string, zone: string | undefined): (instant: number) => number {
  try {
    const pattern = new Cron(line, { ...(zone !== undefined && { timezone: zone }) });
    return (instant) => pattern.nextRun(new Date(instant))?.getTime() ?? Infinity;
  } catch (error) {
    reject('cron', 'line', `must be a cron expression (${reasonOf(error)})`, line, error);
  }
}

/** At most this many characters of the reason: it may repeat the expression. */
const LONGEST_REASON = 200;

/** croner's own words, without the name of its class and the line, which the error shows itself. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return printable(text.replace(/^Cron\w*: /, '').replace(/\.$/, ''), LONGEST_REASON);
}

/** croner also accepts a date for a single run; only a date has a colon. */
function checkLine(line: string): string {
  if (typeof line !== 'string') reject('cron', 'line', 'must be a cron expression (a text)', line);
  if (line.includes(':')) reject('cron', 'line', 'must be a cron expression (this is a date)', line);
  return line.trim();
}

function hasDefiniteTimes(line: string): boolean {
  if (line.startsWith('@')) return false; // whole hours and midnights, which croner places correctly
  const fields = line.split(/\s+/);
  return !/[*?/]/.test(fields.slice(0, fields.length === 5 ? 2 : 3).join());
}
