import { reject } from '../schedule/check.ts';

const TIME_OF_DAY = /^([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?$/;

/**
 * Parses a time `HH:mm` or `HH:mm:ss`, from 00:00 to 23:59:59, to milliseconds after midnight on a day without a clock
 * change.
 *
 * @throws {TicklessError} `OPTION` for anything else.
 */
export function timeOfDay(schedule: string, option: string, received: string): number {
  const match = typeof received === 'string' ? TIME_OF_DAY.exec(received) : null;
  if (match === null) reject(schedule, option, 'must be a time of day, HH:mm or HH:mm:ss', received);
  const [, hours, minutes, seconds = 0] = match;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
