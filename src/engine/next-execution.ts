import { OptionError } from '../errors.ts';
import type { Execution } from '../schedule/schedule.ts';
import { ignoreRejection } from '../time/deferred.ts';

/** The result of a schedule: a future instant, or why it can't be used. */
export type NextExecution =
  | { readonly kind: 'at'; readonly nextExecuteTime: number }
  | { readonly kind: 'broken'; readonly toError: ToError };

/**
 * Makes the error of a broken schedule.
 *
 * @param option the option at fault: `schedule`, or `nextExecuteTime` of the load's metadata.
 */
type ToError = (option: string, about: { readonly cacheName: string; readonly key: unknown }) => OptionError;

/**
 * Asks for the next execute time and checks the result. Never throws.
 *
 * @param after the result must be later than this (epoch milliseconds); `-Infinity` where an instant that has passed
 *   meanwhile is no mistake, but due.
 */
export function askNextExecution(
  ask: (execution: Execution) => number,
  execution: Execution,
  after: number,
): NextExecution {
  let received: unknown;
  try {
    received = ask(execution);
    if (typeof received === 'number' && received > after) return { kind: 'at', nextExecuteTime: received };
    if (received instanceof Promise) ignoreRejection(received); // an async schedule: reported as what it is
  } catch (cause) {
    return broken('must not throw', cause, cause);
  }
  return broken('must be a future instant in epoch milliseconds', received, undefined);
}

function broken(rule: string, received: unknown, cause: unknown): NextExecution {
  return {
    kind: 'broken',
    toError: (option, about) => new OptionError([{ option, rule, received }], { ...about, cause }),
  };
}

/**
 * The execution in terms of a wall clock that was stepped since: its instants move with the step, so that the time
 * elapsed stays what it is; `since` stays at the earlier reading, so that no calendar instant is skipped.
 */
export function afterStep(execution: Execution, stepMs: number, now: number): Execution {
  const endedAt = execution.endedAt + stepMs;
  return {
    ...execution,
    now,
    startedAt: execution.startedAt + stepMs,
    endedAt,
    since: Math.min(execution.since ?? execution.endedAt, endedAt),
    dueAt: execution.dueAt === undefined ? undefined : execution.dueAt + stepMs,
  };
}
