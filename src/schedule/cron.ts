import { Cron } from 'croner';
import { checkNames, reject } from './check.ts';
import type { ZoneOptions } from './daily-at.ts';
import { localClock } from './local-time.ts';
import type { Schedule } from './schedule.ts';

/**
 * Executes at the instants of a cron line: the first one after the last execution (`since`). Instants that passed
 * without a read collapse into one. A line that never matches again is never due (`Infinity`). It starts no timer.
 *
 * The line is read by croner. Five fields, `minute hour day-of-month month weekday`; six, with seconds in front; or
 * seven, with years behind. Per field `*`, lists `1,15`, ranges `9-17` and steps `0-59/10`; names `JAN`, `MON`;
 * weekdays 0 to 7 from Sunday to Sunday. `L` is the last day of the month or, behind a weekday (`5L`), its last one;
 * `15W` the working day nearest to the 15th; `5#2` the second Friday. If both day fields are restricted, one of them
 * has to match; both with a `+` before the weekday. `@daily`, `@hourly` and the like stand for whole lines.
 *
 * When the clocks change, a line with definite times (no `*`, `?` or step in seconds, minutes and hours) acts as
 * `dailyAt` does: a time that does not exist is executed at the first instant after the gap, one that occurs twice
 * only the first time. Other lines follow the clock: what falls into a gap is left out, what occurs twice is
 * executed twice.
 *
 * @param line the cron line.
 * @throws {OptionError} when the line is not one (with croner's error as `cause`), or the zone is unknown.
 */
export function cron(line: string, options: ZoneOptions = {}): Schedule {
  checkNames('cron', options, ['zone']);
  const { zone } = options;
  const clock = localClock('cron', zone);
  const isDefinite = hasDefiniteTimes(checkLine(line));
  // Definite times are looked up on the bare wall clock, which has no changes, and placed in the zone by us. croner
  // itself would leave out a time whose gap ends on the next day (23:30 in America/Nuuk, the last Saturday of March).
  const following = nextRunOf(line, isDefinite ? 'UTC' : zone);
  return {
    nextExecuteTime: ({ endedAt, since = endedAt }) =>
      isDefinite ? clock.firstAfter(since, following) : following(since),
  };
}

/** The first match of the line after an instant, `Infinity` when there is none. */
function nextRunOf(line: string, zone: string | undefined): (instant: number) => number {
  try {
    const pattern = new Cron(line, { ...(zone !== undefined && { timezone: zone }) });
    return (instant) => pattern.nextRun(new Date(instant))?.getTime() ?? Number.POSITIVE_INFINITY;
  } catch (error) {
    reject('cron', 'line', 'must be a cron line', line, error);
  }
}

/** croner would also take a date, for a single run, and tells the two apart by the colon. */
function checkLine(line: string): string {
  if (typeof line !== 'string' || line.includes(':')) reject('cron', 'line', 'must be a cron line', line);
  return line.trim();
}

function hasDefiniteTimes(line: string): boolean {
  if (line.startsWith('@')) return false; // whole hours and midnights, which croner places as we would
  const fields = line.split(/\s+/);
  return !/[*?/]/.test(fields.slice(0, fields.length === 5 ? 2 : 3).join());
}
