import type { ValueMeta } from '../data/value-meta.ts';
import type { Execution } from '../schedule/schedule.ts';
import { ignoreThenable } from '../time/deferred.ts';

/** An execution as an entry remembers it. */
export type LastExecution = Required<Omit<Execution, 'maxStaleness' | 'answered'>> & {
  /** The `meta` of the value, for the next load. */
  readonly meta: ValueMeta | undefined;
  /** The age limit of a value from elsewhere is that of the schedule there, which has another one for another response. */
  readonly isLimitScheduled: boolean;
};

/** See {@link LastExecution}. Of a value that was loaded here: no load has given it one. */
export function isLimitScheduled({
  last,
  maxStalenessOverrideMs,
}: {
  readonly last: Pick<LastExecution, 'isLimitScheduled'> | undefined;
  readonly maxStalenessOverrideMs: number | undefined;
}): boolean {
  return maxStalenessOverrideMs === undefined || last?.isLimitScheduled === true;
}

/** The age limit that a load has returned, in milliseconds: never longer than the option. `undefined`: it has returned none. */
export function shorterLimit(ofLoadMs: number | undefined, optionMs: number): number | undefined {
  return ofLoadMs && Math.min(ofLoadMs, optionMs);
}

/** A result of a schedule that can't be used. */
export interface BrokenSchedule {
  /** Ready to follow the name of the option: `must be …`. */
  readonly rule: string;
  readonly received: unknown;
  /** The error that the schedule has thrown, if it has. */
  readonly cause?: unknown;
}

/**
 * Asks for the next execute time and checks the result. Never throws.
 *
 * @param after the result must be later than this (epoch milliseconds); `-Infinity` where an instant in the past
 *   means due at once.
 */
export function askNextExecution(
  ask: (execution: Execution) => number,
  execution: Execution,
  after: number,
): number | BrokenSchedule {
  try {
    const received: unknown = ignoreThenable(ask(execution)); // an async schedule is rejected as a wrong result
    if (typeof received === 'number' && received > after) return received;
    return { rule: 'must be a future instant in epoch milliseconds', received };
  } catch (cause) {
    return { rule: 'must not throw', received: cause, cause };
  }
}

/** The execution as a schedule gets it. Field by field: a spread with further fields takes microseconds. */
export function askedExecution(
  { startedAt, endedAt, since, now, dueAt, outcome, result, headers, random }: LastExecution,
  maxStaleness: number,
  answered: number | undefined,
): Execution {
  return {
    startedAt,
    endedAt,
    since,
    now,
    dueAt,
    outcome,
    result,
    headers,
    random,
    maxStaleness,
    answered,
  };
}

/**
 * The execution in terms of a wall clock that was stepped since: its instants move with the step, so that the time
 * elapsed stays what it is; `since` stays at the earlier reading, so that no calendar instant is skipped.
 */
export function afterStep<E extends Execution>(execution: E, stepMs: number, now: number): E {
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
