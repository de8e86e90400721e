import { durationHint } from '../name-hints.ts';
import { methodOf } from '../plain-object.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { wrapped } from './calendar.ts';
import { reject } from './check.ts';
import { fixedDelay } from './fixed-delay.ts';
import type { Execution, Schedule, ScheduleLike } from './schedule.ts';

/**
 * Converts a `ScheduleLike`: anything with a `nextExecuteTime` function is returned unchanged, a plain function becomes
 * that function with the durations that it returns as instants, a positive duration becomes `fixedDelay`. `undefined` for anything else. Never throws.
 */
export function toSchedule(schedule: ScheduleLike): Schedule | undefined {
  if (isSchedule(schedule)) return schedule; // also a function that has the method
  if (typeof schedule === 'function')
    return { nextExecuteTime: (execution) => instantOf(schedule(execution), execution) };
  return toMillis(schedule) > 0 ? fixedDelay(schedule) : undefined;
}

/**
 * Converts an argument of a combinator to a schedule.
 *
 * @param combinator the name of the called function: `withJitter`.
 * @throws {TicklessError} `OPTION` when it is not a schedule.
 */
export function requireSchedule(combinator: string, option: string, received: ScheduleLike): Schedule {
  const schedule =
    toSchedule(received) ??
    reject(combinator, option, 'must be a schedule, a function or a positive duration', received);
  const checked: Schedule = {
    nextExecuteTime: (execution) => ignoreThenable(schedule.nextExecuteTime(execution)),
    maxStaleness: (execution) =>
      ignoreThenable(methodOf(schedule, 'maxStaleness')?.call(schedule, execution)),
  };
  return wrapped(checked, schedule);
}

/** A number is an instant; any other duration is one from the end of the execution, as of `fixedDelay`. The rest is left to be refused. */
function instantOf(result: DurationLike, { endedAt }: Execution): number {
  const delayMs = typeof result === 'number' ? Number.NaN : toMillis(result);
  return delayMs > 0 ? endedAt + delayMs : (result as number);
}

function isSchedule(schedule: ScheduleLike): schedule is Schedule {
  return (
    (typeof schedule === 'object' || typeof schedule === 'function') &&
    schedule !== null &&
    methodOf(schedule as Partial<Schedule>, 'nextExecuteTime') !== undefined
  );
}

/**
 * Checks a schedule given to a method.
 *
 * @throws {TicklessError} `OPTION` when it is not a schedule.
 */
export function scheduleArgument(member: string, received: ScheduleLike): Schedule {
  return toSchedule(received) ?? reject(member, 'schedule', scheduleRule(received), received);
}

/** The rule for the option `schedule`, with what to write instead of a text that looks like a schedule. */
export function scheduleRule(received: unknown): string {
  const text = typeof received === 'string' ? received.trim() : '';
  let hint = durationHint(received);
  if (/^(?:@\w+|\S+(?:\s+\S+){4,5})$/.test(text)) hint = ` (cron('${text}') of 'tickless/calendar')`;
  if (/^\d\d?:\d\d$/.test(text)) hint = ` (dailyAt('${text}') of 'tickless/calendar')`;
  return `must be a schedule, a function, or a duration over 0${hint}`;
}
