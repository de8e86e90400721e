import { toMillis } from '../time/duration.ts';
import { reject } from './check.ts';
import { fixedDelay } from './fixed-delay.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';

/**
 * The schedule that is meant: anything with a `nextExecuteTime` function as it is, a plain function as that
 * function, a duration over 0 as `fixedDelay` of it. `undefined` for anything else. Never throws.
 */
export function toSchedule(schedule: ScheduleLike): Schedule | undefined {
  if (isSchedule(schedule)) return schedule; // before "is it a function": `never` is both
  if (typeof schedule === 'function') return { nextExecuteTime: schedule };
  return toMillis(schedule) > 0 ? fixedDelay(schedule) : undefined;
}

/**
 * The schedule that is meant by an argument of a combinator.
 *
 * @param combinator the function that was called: `withJitter`.
 * @throws {OptionError} when it is no schedule.
 */
export function requireSchedule(combinator: string, option: string, received: ScheduleLike): Schedule {
  return (
    toSchedule(received) ??
    reject(combinator, option, 'must be a schedule, a function or a duration over 0', received)
  );
}

function isSchedule(schedule: ScheduleLike): schedule is Schedule {
  return (
    (typeof schedule === 'object' || typeof schedule === 'function') &&
    schedule !== null &&
    'nextExecuteTime' in schedule &&
    typeof schedule.nextExecuteTime === 'function'
  );
}
