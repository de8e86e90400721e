import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, lockedTask, RefreshGroup, type TicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

/** A group with a value whose load calls `within` the second time, and what that call has rejected with. */
function make(within: (all: ReturnType<typeof members>) => Promise<unknown>) {
  const clock = new FakeClock();
  const all = members(clock, async () => {
    if (++loads !== 2) return loads;
    failures.push(await rejectionOf(within(all)));
    return loads;
  });
  let loads = 0;
  const failures: unknown[] = [];
  return { ...all, clock, failures };
}

function members(clock: FakeClock, load: () => Promise<number>) {
  const group = new RefreshGroup({ clock, logger: false, retry: false });
  const backend = memoryBackend({ clock, keepVersions: 3 });
  const value = group.value({ name: 'v', load, required: true, schedule: 1000, backend });
  return { group, value };
}

describe('what a load awaits that waits for its own end is an error at once', () => {
  it.each([
    ['refresh', ({ value }) => value.refresh()],
    ['get with maxStaleness', ({ value }) => value.get({ maxStaleness: 0 })],
    ['requestStart', ({ value }) => value.requestStart({ wait: true })],
    ['rollback', ({ value }) => value.rollback({ to: 1, by: 'me' })],
    ['unpin', ({ value }) => value.unpin()],
    ['set everywhere', ({ value }) => value.set(7)],
    ['invalidate everywhere', ({ value }) => value.invalidate()],
    ['close', ({ value }) => value.close()],
    ['close of the group', ({ group }) => group.close()],
    ['ready', ({ group }) => group.ready()],
  ] as [string, Parameters<typeof make>[0]][])('%s', async (_name, within) => {
    const { value, clock, failures } = make(within);
    await value.get();
    await clock.flush();
    void value.refresh();
    await clock.flush();
    expect(failures.map((error) => isTicklessError(error, 'OPTION'))).toEqual([true]);
    expect(String(failures[0])).toContain('load must not wait for its own end');
    const closed = value.close();
    await clock.advance(5);
    await closed;
    expect(clock.timerCount).toBe(0);
  });

  it.each([
    ['accept', 'before its first await', 'OPTION'],
    ['schema', 'before its first await', 'OPTION'],
    ['accept', 'after that with the time-out of the load', 'TIMED_OUT'],
    ['schema', 'after that with the time-out of the load', 'TIMED_OUT'],
  ] as const)('also in %s, whose end is that of the load, %s', async (where, _when, expected) => {
    const clock = new FakeClock();
    const failures: unknown[] = [];
    let isArmed = false;
    const act = async (): Promise<void> => {
      if (!isArmed) return;
      isArmed = false;
      if (expected === 'TIMED_OUT') await null;
      failures.push(await rejectionOf(value.refresh()));
    };
    const accept = async (): Promise<true> => {
      if (where === 'accept') await act();
      return true;
    };
    const validate = async (output: unknown): Promise<{ value: number }> => {
      if (where === 'schema') await act();
      return { value: output as number };
    };
    const group = new RefreshGroup({ clock, logger: false, retry: false });
    const value = group.value<number>({
      name: 'v',
      load: async () => 1,
      timeout: 1000,
      accept,
      schema: { '~standard': { version: 1, validate } },
      backend: memoryBackend({ clock }),
    });
    await value.get();
    await clock.flush();
    isArmed = true;
    const refreshed = value.refresh().catch((error: TicklessError) => error.code);
    await clock.advance(expected === 'OPTION' ? 5 : 1000);
    expect(await refreshed).toBe(expected === 'OPTION' ? 1 : expected);
    expect(failures.map((error) => (error as TicklessError).code)).toEqual([expected]);
    await group.close();
  });

  it('what needs no end of the load is done all the same: close closes', async () => {
    const { value, clock } = make((all) => all.value.close());
    await value.get();
    await clock.flush();
    void value.refresh();
    await clock.flush();
    expect(value.inspect()).toMatchObject({ closed: true, running: false, value: 2 });
  });

  it('of a cache: the keys of the call of loadMany, and others not', async () => {
    const { group, clock } = make(async () => {});
    const answers: string[] = [];
    const cache = group.cache<number, number>({
      name: 'c',
      loadMany: async (keys) => {
        if (keys.includes(1)) {
          const of = (key: number) => cache.get(key).then(String, (error: TicklessError) => error.code);
          answers.push(...(await Promise.all([of(1), of(5)])));
        }
        return new Map(keys.map((key) => [key, key]));
      },
    });
    const all = cache.getMany([1, 2]);
    await clock.advance(1);
    await all;
    expect(answers).toEqual(['OPTION', '5']);
  });

  it('of a cache: a request that waits for the keys that are due', async () => {
    const { group, clock } = make(async () => {});
    const failures: unknown[] = [];
    const cache = group.cache<number, number>({
      name: 'c',
      load: async (key) => {
        failures.push(await rejectionOf(cache.requestStart({ wait: true })));
        return key;
      },
    });
    const first = cache.get(1);
    await clock.advance(1);
    expect(await first).toBe(1);
    expect(failures.map((error) => isTicklessError(error, 'OPTION'))).toEqual([true]);
  });

  it('of an executor and of a locked task', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, logger: false, retry: false });
    const failures: unknown[] = [];
    const task = group.executor(async () => void failures.push(await rejectionOf(task.execute())), {
      name: 'task',
      schedule: 1000,
    });
    await task.execute();
    const run = lockedTask(async () => void failures.push(await rejectionOf(run.close())), {
      name: 'run',
      lock: lockOf(memoryBackend({ clock })),
      clock,
    });
    await run();
    await run.close();
    expect(failures.map((error) => isTicklessError(error, 'OPTION'))).toEqual([true, true]);
  });
});
