import { isTicklessError, type TicklessError } from '../../../src/errors.ts';
import type { Execution, Schedule } from '../../../src/schedule/schedule.ts';
import { thrownBy } from '../../support/settle.ts';

/** An execution that ended at an instant and took no time. */
export const endedAt = (instant: number, rest: Partial<Execution> = {}): Execution => ({
  startedAt: instant,
  endedAt: instant,
  ...rest,
});

/** The next `count` instants of a schedule, each execution ending the moment it is due. */
export function instants(schedule: Schedule, after: number, count: number): string[] {
  const found: string[] = [];
  for (let instant = after; found.length < count; found.push(new Date(instant).toISOString())) {
    instant = schedule.nextExecuteTime(endedAt(instant));
  }
  return found;
}

/** The `OPTION` that a call throws. */
export function optionErrorOf(call: () => unknown): TicklessError {
  const error = thrownBy(call);
  if (!isTicklessError(error, 'OPTION')) throw error;
  return error;
}
