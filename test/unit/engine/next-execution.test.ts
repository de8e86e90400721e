import { describe, expect, it } from 'vitest';
import { afterStep, askNextExecution } from '../../../src/engine/next-execution.ts';
import type { Execution } from '../../../src/index.ts';

const execution: Execution = {
  startedAt: 90,
  endedAt: 100,
  since: 100,
  now: 100,
  dueAt: 80,
  outcome: 'loaded',
  result: undefined,
  random: () => 0,
};

const ask = (schedule: () => unknown) => askNextExecution(schedule as () => number, execution, 100);
const rule = 'must be a future instant in epoch milliseconds';

describe('askNextExecution', () => {
  it.each([
    [100.5, 100],
    [101, 100],
    [Infinity, 100],
    [5, -Infinity],
  ])('takes %d as an instant after %d', (nextExecuteTime, after) => {
    expect(askNextExecution(() => nextExecuteTime, execution, after)).toBe(nextExecuteTime);
  });

  it.each([[100], [99], [Number.NaN], ['2030-01-01'], [undefined]])(
    'rejects %j, which is not a future instant',
    (received) => {
      expect(ask(() => received)).toEqual({ rule, received });
    },
  );

  it('does not throw the error of a schedule, which is the cause', () => {
    const cause = new Error('no calendar');
    const schedule = (): never => {
      throw cause;
    };
    expect(ask(schedule)).toEqual({ rule: 'must not throw', received: cause, cause });
  });
});

describe('after a step of the wall clock', () => {
  it.each([
    [2000, 2105, { startedAt: 2090, endedAt: 2100, dueAt: 2080, since: 100 }],
    [-2000, -1890, { startedAt: -1910, endedAt: -1900, dueAt: -1920, since: -1900 }],
  ])('of %i ms the instants move along; since stays at the earlier reading', (stepMs, now, moved) => {
    expect(afterStep(execution, stepMs, now)).toEqual({ ...execution, ...moved, now });
  });

  it('also where the execution was not due before, or has no since', () => {
    const { since: _, ...old } = { ...execution, dueAt: undefined };
    expect(afterStep(old, 2000, 2105)).toMatchObject({ dueAt: undefined, since: 100 });
  });
});
