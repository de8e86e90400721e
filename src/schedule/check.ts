import { OptionError } from '../errors.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';

/**
 * Throws an `OptionError` for an argument of a schedule.
 *
 * @param schedule the function that was called, as a person would search for it: `dailyAt`.
 */
export function reject(
  schedule: string,
  option: string,
  rule: string,
  received: unknown,
  cause?: unknown,
): never {
  throw new OptionError([{ option, rule, received }], { cacheName: schedule, cause });
}

/** The argument must be a duration over 0, `Infinity` included. @throws {OptionError} */
export function checkDuration(schedule: string, option: string, received: DurationLike): void {
  if (!(toMillis(received) > 0)) reject(schedule, option, 'must be a duration over 0', received);
}

/**
 * The options must be an object without unknown names: a misspelt `timezone` would otherwise silently mean the
 * zone of the machine.
 *
 * @throws {OptionError}
 */
export function checkNames(schedule: string, options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    reject(schedule, 'options', 'must be an object', options);
  for (const [name, received] of Object.entries(options)) {
    if (!names.includes(name)) reject(schedule, name, `is no option, use ${names.join(', ')}`, received);
  }
}
