import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkDuration } from './check.ts';
import type { Schedule } from './schedule.ts';

/**
 * The next execution is due `delay` after the end of the last one, measured by elapsed time: a stepped wall clock
 * changes nothing. A duration given as `schedule` means this.
 *
 * @param delay over 0; `Infinity` means never by itself.
 * @throws {OptionError} when `delay` is no duration over 0.
 */
export function fixedDelay(delay: DurationLike): Schedule {
  checkDuration('fixedDelay', 'delay', delay);
  const delayMs = toMillis(delay);
  return { nextExecuteTime: ({ endedAt }) => endedAt + delayMs };
}
