import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkDuration } from './check.ts';
import type { Schedule } from './schedule.ts';

/**
 * Executes `delay` after the end of the last execution, measured as elapsed time: steps of the wall clock have no
 * effect. A duration as the option `schedule` means this.
 *
 * @param delay a positive duration; `Infinity` means never by itself.
 * @throws {TicklessError} `OPTION` when `delay` is not a positive duration.
 */
export function fixedDelay(delay: DurationLike): Schedule {
  checkDuration('fixedDelay', 'delay', delay);
  const delayMs = toMillis(delay);
  return { nextExecuteTime: ({ endedAt }) => endedAt + delayMs };
}
