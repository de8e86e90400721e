import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { keptRuns, type TaskRun } from '../../../src/cluster/task-runs.ts';
import { lockedTask } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { storeOf } from '../../support/parts.ts';

function made(more: object = {}) {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock });
  let outcome: () => unknown = () => 'sent';
  const task = lockedTask(
    async () => {
      await clock.advance(250);
      return outcome();
    },
    { name: 'report', backend, clock, ...more },
  );
  const fails = (error: Error): void => {
    outcome = () => {
      throw error;
    };
  };
  return { clock, store: storeOf(backend), task, fails };
}

describe('runs of a locked task with a store', () => {
  it('are kept with time, length, result, host and token, the last one first', async () => {
    const { clock, store, task, fails } = made();
    const begun = clock.now();
    const first = await task();
    fails(new Error(`down${'!'.repeat(1000)}`));
    await task().catch(() => {});
    const runs = await keptRuns(store, 'report');
    expect(runs).toMatchObject([
      { startedAt: begun + 250, took: 250, outcome: 'failed' },
      { startedAt: begun, took: 250, outcome: 'loaded', token: first.kind === 'executed' && first.token },
    ]);
    expect(runs[0]?.error).toBe(`down${'!'.repeat(496)}`);
    expect(runs[0]?.host).not.toBe('');
    expect(await keptRuns(store, 'other')).toEqual([]);
  });

  it('are at most 20', async () => {
    const { store, task } = made();
    for (let at = 0; at < 23; at++) await task();
    const tokens = (await keptRuns(store, 'report')).map(({ token }: TaskRun) => token);
    expect([tokens.length, tokens]).toEqual([20, [...tokens].sort((a, b) => b - a)]);
  });

  it('are not recorded where the store fails, or the lease is lost; the task has its result', async () => {
    const { store, task } = made();
    const { write } = store;
    store.write = () => Promise.reject(new Error('ECONNREFUSED'));
    expect((await task()).kind).toBe('executed');
    store.write = write;
    const lost = made({ lockAtMostFor: 100 });
    await lost.task().catch(() => {});
    expect([await keptRuns(store, 'report'), await keptRuns(lost.store, 'report')]).toEqual([[], []]);
  });

  it('of another format, or edited by hand, count as absent', async () => {
    const { store } = made();
    for (const payload of [
      'x',
      'tickless-runs/2\n{',
      'tickless-runs/2\n{}',
      'tickless-runs/2\n[null,{"startedAt":"x"}]',
    ]) {
      await store.write('runs/report', payload);
      expect(await keptRuns(store, 'report')).toEqual([]);
    }
  });
});
