import { Cron } from 'croner';
import { ownOptions } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { asCalendar } from '../schedule/calendar.ts';
import { checkNames, reject } from '../schedule/check.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { ZoneOptions } from './daily-at.ts';
import { localClock } from './local-time.ts';

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
