import { checked } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';

/**
 * Throws an `OPTION` error for an argument of a schedule.
 *
 * @param schedule the name of the called function: `dailyAt`.
 */
export function reject(
  schedule: string,
  option: string,
  rule: string,
  received: unknown,
  cause?: unknown,
): never {
  throw optionError([{ option, rule, received }], { member: schedule, cause });
}

/** The argument must be a positive duration; `Infinity` is allowed. @throws {TicklessError} `OPTION` */
export function checkDuration(schedule: string, option: string, received: DurationLike): void {
  if (!(toMillis(received) > 0)) reject(schedule, option, 'must be a positive duration', received);
}

/**
 * Rejects unknown option names, so that a misspelt `timezone` never means the zone of the machine.
 *
 * @throws {TicklessError} `OPTION`
 */
export function checkNames(schedule: string, options: object, names: readonly string[]): void {
  checked(schedule, (checks) => checks.names('', options, names));
}
