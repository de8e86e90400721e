import { describe, expect, it } from 'vitest';
import { PeriodicExecutor, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { warmOne } from '../../support/cluster.ts';
import { recordEvents, recordLines, wordsOf } from '../../support/events.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { manualValue } from '../../support/manual-value.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('cancel', () => {
  function make() {
    const made = manualValue({ schedule: 10_000, coolDown: 1000, retry: undefined });
    return { ...made, events: recordEvents(made.value) };
  }

  it('ends the execution under way as failed: error, signal, event, cool-down; the old value stays', async () => {
    const { clock, manual, value, events } = make();
    value.set('old');
    expect(value.cancel()).toBe(false);
    const refresh = rejectionOf(value.refresh());
    const reason = new Error('wrong source');
    expect(value.cancel(reason)).toBe(true);
    const error = await refresh;
    expect(String(error)).toBe('TicklessError: v: cancelled: wrong source');
    expect(error).toMatchObject({ cause: reason, attempts: 1 });
    expect(manual.call(0).context.signal.reason).toBe(error);
    expect(wordsOf(events)).toEqual(['load-started', 'cancelled']);
    expect([value.current, value.inspect().failures, value.cancel()]).toEqual(['old', 1, false]);
    manual.call(0).resolve('late');
    await clock.flush();
    expect([value.current, clock.timerCount, wordsOf(events).at(-1)]).toEqual(['old', 0, 'late']);
  });

  it('no other load begins before one that ignores its signal has settled', async () => {
    const { clock, manual, value } = make();
    const first = rejectionOf(value.get());
    value.cancel('stop');
    expect(await first).toMatchObject({ code: 'LOAD_FAILED' });
    const next = value.refresh();
    await clock.flush();
    expect(manual.calls.length).toBe(1);
    manual.call(0).reject(new Error('aborted'));
    await clock.flush();
    manual.call(1).resolve('new');
    expect(await next).toBe('new');
    expect(value.current).toBe('new');
  });

  it('of a load that ignores its signal for ever, until its deadline', async () => {
    const { clock, manual, value } = make();
    void value.get();
    await clock.advance(10_000);
    value.cancel();
    const next = value.refresh();
    await clock.advance(19_999);
    expect(manual.calls.length).toBe(1);
    await clock.advance(1);
    expect(manual.calls.length).toBe(2);
    manual.call(1).resolve('new');
    expect(await next).toBe('new');
  });

  it('of an executor, and of one key of a batch', async () => {
    const manual = new ManualLoad<number>();
    const task = (context: object): Promise<number> =>
      manual.load({ ...context, previous: undefined } as never);
    const executor = new PeriodicExecutor(task, { name: 't', logger: false });
    const execution = rejectionOf(executor.execute());
    expect(executor.cancel('stop')).toBe(true);
    expect(await execution).toMatchObject({ message: 't: cancelled: stop' });

    const signals: AbortSignal[] = [];
    const { clock, cache } = fakeCache<string, string>({
      loadMany: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const reads = ['a', 'b'].map((key) => cache.get(key));
    await clock.flush();
    expect([cache.cancel('x'), cache.cancel('a')]).toEqual([false, true]);
    expect(await rejectionOf(reads[0] as Promise<string>)).toMatchObject({ key: 'a' });
    expect([await settled(reads[1] as Promise<string>), signals[0]?.aborted]).toEqual(['pending', false]);
    cache.cancel('b');
    expect(signals[0]?.aborted).toBe(true);
    await rejectionOf(reads[1] as Promise<string>);
  });

  it('in a cluster the round is released as failed when the load has stopped', async () => {
    const { cluster, a } = await warmOne();
    const refresh = rejectionOf(a.value.refresh());
    await cluster.clock.flush();
    a.value.cancel('stop');
    await refresh;
    await cluster.clock.flush();
    expect((await cluster.lock.list())[0]?.state).toBe('running');
    await cluster.fail(a, 1, new Error('aborted'));
    expect((await cluster.lock.list())[0]).toMatchObject({
      state: 'failed',
      lastError: 'v: cancelled: stop',
    });
  });
});

it('reschedule of a cache computes the due times of all keys anew, spread within the new schedule', async () => {
  let loads = 0;
  const own = { schedule: 3_600_000, random: () => 0.5 };
  const { clock, cache } = fakeCache<string, number>({ load: async () => ++loads, ...own });
  await Promise.all(['a', 'b'].map((key) => cache.get(key)));
  await clock.advance(1000);
  cache.reschedule(10_000);
  const due = (key: string): number => (cache.inspect(key)?.nextExecuteTime ?? 0) - clock.now();
  expect([due('a'), due('b')]).toEqual([4500, 4500]); // in the middle of the last nine tenths of a period
  await clock.advance(4500);
  for (const key of ['a', 'b']) cache.current(key);
  await clock.flush();
  expect(loads).toBe(4);
  expect(() => cache.reschedule('often' as never)).toThrow('schedule');
});

describe('the event evicted', () => {
  it('names each key whose value left a full cache, and none that was deleted; a listener may set it again', async () => {
    const clock = new FakeClock();
    const cache = new RefreshingCache<string, string>({ name: 'c', load: (key) => key, max: 2, clock });
    const evicted: unknown[] = [];
    cache.on('evicted', ({ key, name }) => {
      expect([cache.size, name]).toEqual([2, 'c']);
      if (evicted.push(key) === 1) cache.set('a', 'again');
    });
    for (const key of ['a', 'b', 'c']) cache.current(key);
    expect([evicted, [...cache.keys()]]).toEqual([
      ['a', 'b'],
      ['c', 'a'],
    ]);
    cache.delete('c');
    cache.clear();
    expect(evicted).toEqual(['a', 'b']);
  });

  it('comes in its order with changed, also where a listener reads the key again at once', () => {
    const { cache } = fakeCache({ load: (key) => key, max: 1 });
    const heard: string[] = [];
    cache.on('changed', ({ key }) => void heard.push(`changed ${key}`));
    cache.on('evicted', ({ key }) => {
      if (heard.push(`evicted ${key}`) === 3) void cache.get('a');
    });
    for (const key of ['a', 'b']) void cache.get(key);
    expect(heard).toEqual(['changed a', 'changed b', 'evicted a', 'changed a', 'evicted b']);
  });

  it('of a listener that always reads the key again ends, and says so', () => {
    const logger = recordLines();
    const cache = new RefreshingCache<string, string>({ name: 'c', load: (key) => key, max: 1, logger });
    let heard = 0;
    cache.on('evicted', ({ key }) => {
      heard += 1;
      void cache.get(key as string);
    });
    for (const key of ['a', 'b']) void cache.get(key);
    expect([heard, cache.size]).toEqual([100, 1]);
    expect(logger.lines.at(-1)).toContain('a listener of evicted replaces the value each time');
  });
});
