import { OptionError } from '../errors.ts';
import type { Execution } from '../schedule/schedule.ts';
import { ignoreRejection } from '../time/deferred.ts';

/** The answer of a schedule: an instant to come, or what is wrong with it. */
export type NextExecution =
  | { readonly kind: 'at'; readonly nextExecuteTime: number }
  | { readonly kind: 'broken'; readonly error: OptionError };

/**
 * Asks for the next execute time and checks the answer. Never throws.
 *
 * @param option who is asked, for the error: the schedule (or the override of a subclass), or what the load said.
 * @param after the answer must be later than this (epoch milliseconds); `-Infinity` when an instant that passed in
 *   the meantime is no mistake, but due.
 */
export function askNextExecution(
  ask: (execution: Execution) => number,
  execution: Execution,
  after: number,
  { option, ...about }: { readonly option: string; readonly cacheName: string; readonly key: unknown },
): NextExecution {
  let received: unknown;
  let hasThrown = false;
  try {
    received = ask(execution);
    if (typeof received === 'number' && received > after) return { kind: 'at', nextExecuteTime: received };
    if (received instanceof Promise) ignoreRejection(received); // an async schedule: told as what it is, no number
  } catch (error) {
    hasThrown = true;
    received = error;
  }
  const rule = hasThrown ? 'must not throw' : 'must be a future instant in epoch milliseconds';
  const cause = hasThrown ? received : undefined;
  return { kind: 'broken', error: new OptionError([{ option, rule, received }], { ...about, cause }) };
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
