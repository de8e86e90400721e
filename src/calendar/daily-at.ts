import { ownOptions } from '../option-checks.ts';
import { asCalendar } from '../schedule/calendar.ts';
import { checkNames } from '../schedule/check.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { DAY_MS, localClock } from './local-time.ts';
import { timeOfDay } from './time-of-day.ts';

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
