import { describe, expect, it } from 'vitest';
import { createBackend } from '../../../src/backends/index.ts';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, PeriodicExecutor, type TaskOptions } from '../../../src/index.ts';
import { MemoryCells } from '../../../src/records/cells/memory-cells.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

function made(options: Partial<TaskOptions> = {}) {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  let outcome: () => unknown = () => 'sent';
  const executor = new PeriodicExecutor(
    async () => {
      await clock.advance(250);
      return outcome();
    },
    { name: 'report', schedule: 1000, retry: false, logger: false, clock, ...options },
  );
  const fails = (message: string): void => {
    outcome = () => {
      throw new Error(message);
    };
  };
  return { clock, executor, fails };
}

describe('the runs of an executor', () => {
  it('without a lock are kept in memory, with time, length, result and error, the last one first', async () => {
    const { clock, executor, fails } = made();
    expect(await executor.runs()).toEqual([]);
    const begun = clock.now();
    await executor.execute();
    fails('no paper');
    await executor.execute().catch(() => {});
    expect(await executor.runs()).toEqual([
      { startedAt: begun + 250, took: 250, outcome: 'failed', error: 'no paper' },
      { startedAt: begun, took: 250, outcome: 'loaded' },
    ]);
  });

  it('are the last 20', async () => {
    const kept = async (options: Partial<TaskOptions>): Promise<number> => {
      const { executor } = made(options);
      for (let run = 0; run < 22; run++) await executor.execute();
      const runs = await executor.runs();
      expect(runs.map(({ startedAt }) => startedAt)).toEqual(
        runs.map(({ startedAt }) => startedAt).toSorted((a, b) => b - a),
      );
      return runs.length;
    };
    const lock = lockOf(memoryBackend());
    expect(await Promise.all([{}, { lock }].map(kept))).toEqual([20, 20]);
  });

  it('with a lock of a backend are kept there, for all instances', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock, namespace: 'shop' });
    const [a, b] = [made({ clock, backend }), made({ clock, backend })];
    await a.executor.execute();
    await made({ clock, backend }).executor.requestStart(); // it is done: not a run
    await clock.advance(1000);
    b.fails('no paper');
    await b.executor.execute().catch(() => {});
    await clock.flush(); // it is written behind
    const runs = await a.executor.runs();
    expect(runs).toMatchObject([
      { outcome: 'failed', error: 'no paper' },
      { outcome: 'loaded', took: 250 },
    ]);
    const [last] = runs;
    expect([last?.token !== undefined, last?.host, last?.instance].every(Boolean)).toBe(true);
    expect(await b.executor.runs()).toEqual(runs);
    expect(await made({ clock, backend }).executor.runs()).toEqual(runs);
  });

  it('an execution in which the task is not called is none: the lock is down', async () => {
    const clock = new FakeClock();
    const cells = new MemoryCells(() => clock.now());
    let isDown = false;
    const { lock } = createBackend({
      swap: async (changes) => (isDown ? Promise.reject(new Error('ECONNREFUSED')) : cells.swap(changes)),
      long: (name, ids) => cells.long(name, ids),
      list: (prefix) => cells.list(prefix),
    });
    const { executor } = made({ lock, clock });
    await executor.execute();
    expect(await executor.runs()).toHaveLength(1);
    isDown = true;
    expect(isTicklessError(await rejectionOf(executor.execute()), 'BACKEND_DOWN')).toBe(true);
    expect(isTicklessError(await rejectionOf(executor.runs()), 'BACKEND_DOWN')).toBe(true);
    isDown = false;
    await clock.advance(60_000);
    expect(await executor.runs()).toMatchObject([{ outcome: 'loaded' }]);
  });

  it('close() waits for the run that is being written', async () => {
    const lock = lockOf(memoryBackend());
    const { executor } = made({ lock });
    void executor.execute();
    await executor.close();
    expect(await made({ lock }).executor.runs()).toHaveLength(1);
  });
});
