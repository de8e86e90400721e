import { type DurationLike, toMillis } from '../duration.ts';
import { OptionError } from '../errors.ts';

/**
 * Throws an `OptionError` for an argument of a schedule.
 *
 * @param schedule the function that was called, as a person would search for it: `dailyAt`.
 */
export function reject(schedule: string, option: string, rule: string, received: unknown, cause?: unknown): never {
  throw new OptionError([{ option, rule, received }], { cacheName: schedule, cause });
}

/** The argument must be a duration over 0, `Infinity` included. @throws {OptionError} */
export function checkDuration(schedule: string, option: string, received: DurationLike): void {
  if (!(toMillis(received) > 0)) reject(schedule, option, 'must be a duration over 0', received);
}
