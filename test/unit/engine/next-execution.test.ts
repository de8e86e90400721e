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
const about = { option: 'schedule', cacheName: 'rates', key: undefined };

describe('askNextExecution', () => {
  it('takes an instant after the one it is to be after, and Infinity', () => {
    for (const nextExecuteTime of [100.5, 101, Infinity]) {
      expect(askNextExecution(() => nextExecuteTime, execution, 100, about)).toEqual({
        kind: 'at',
        nextExecuteTime,
      });
    }
    expect(askNextExecution(() => 5, execution, -Infinity, about)).toEqual({
      kind: 'at',
      nextExecuteTime: 5,
    });
  });

  it('tells of anything else what it should have been', async () => {
    for (const received of [
      100,
      99,
      Number.NaN,
      '2030-01-01',
      undefined,
      Promise.reject(new Error('async')),
    ]) {
      const next = askNextExecution(() => received as number, execution, 100, about);
      expect(next).toMatchObject({
        kind: 'broken',
        error: { code: 'ERR_TICKLESS_OPTION', cacheName: 'rates' },
      });
      const { error } = next as { error: Error };
      expect(error.message).toMatch(/schedule.*future instant/);
      expect(error.cause).toBeUndefined();
    }
    await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would fail this run
  });

  it('does not throw what is thrown, but tells it as the cause', () => {
    const cause = new Error('no calendar');
    function ask(): never {
      throw cause;
    }
    const next = askNextExecution(ask, execution, 100, about);
    expect(next).toMatchObject({ kind: 'broken' });
    const { error } = next as { error: Error };
    expect(error.cause).toBe(cause);
    expect(error.message).toMatch(/schedule.*must not throw/);
  });
});

describe('a step of the wall clock', () => {
  it('moves the instants along; since stays at the earlier reading', () => {
    const moved = { startedAt: 2090, endedAt: 2100, dueAt: 2080, now: 2105 };
    expect(afterStep(execution, 2000, 2105)).toEqual({ ...execution, ...moved, since: 100 });
    const back = { startedAt: -1910, endedAt: -1900, dueAt: -1920, now: -1890 };
    expect(afterStep(execution, -2000, -1890)).toEqual({ ...execution, ...back, since: -1900 });
  });

  it('does so also where nothing was due before, or since is not said', () => {
    const { since: _, ...old } = { ...execution, dueAt: undefined };
    expect(afterStep(old, 2000, 2105)).toMatchObject({ dueAt: undefined, since: 100 });
  });
});
