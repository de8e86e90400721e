import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyedEntries } from '../../../src/cache/keyed-entries.ts';
import { dailyAt } from '../../../src/calendar/index.ts';
import {
  absent,
  isTicklessError,
  type KeyedLoadReturn,
  type LoadContext,
  loaded,
  RefreshGroup,
  RefreshingCache,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded, recordLines } from '../../support/events.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { manualGroup as make } from '../../support/manual-group.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const HOUR = 3_600_000;

const load = async () => 'x';

/** A cache whose keys are due one after the other, and whose loads end when the test says so. */
async function dueKeys(own: { readonly group?: RefreshGroup; readonly clock: FakeClock }, keys: string) {
  const manual = new ManualLoad<string>();
  const order: string[] = [];
  const load = (key: string, context: LoadContext) => {
    order.push(key);
    return manual.load(context);
  };
  const { cache } = fakeCache<string, string>({ load, ...own });
  for (const key of keys) {
    cache.set(key, 'old');
    await own.clock.advance(1);
  }
  return { cache, manual, order };
}

describe('a cache in a group', () => {
  for (const how of ['a read of another', 'a request']) {
    it(`has its due keys started by ${how}: soonest first, at most three at a time`, async () => {
      const { clock, group, value } = make({ piggyback: how === 'a read of another', concurrency: 3 });
      const reader = value('reader', HOUR);
      const { cache, manual, order } = await dueKeys({ group, clock }, 'badce');
      await clock.advance(998); // but for the last, which is due in a millisecond
      void cache.get('b');
      if (how === 'a request') group.requestStart();
      else reader.current;
      await clock.flush();
      expect(order.join('')).toBe('bad');
      for (const started of ['badc', 'badc', 'badc', 'badc']) {
        manual.call(manual.calls.length - manual.live).resolve('new');
        await clock.flush();
        expect(order.join('')).toBe(started);
      }
    });
  }

  it('with loadMany loads its due keys in batches, each of which is one load', async () => {
    const { clock, group } = make({ concurrency: 2 });
    const calls: { keys: readonly number[]; end: () => void }[] = [];
    const loadMany = (keys: readonly number[]) =>
      new Promise<Map<number, string>>((resolve) => {
        calls.push({ keys, end: () => resolve(new Map(keys.map((key) => [key, 'new']))) });
      });
    const { cache } = fakeCache<number, string>({ group, clock, loadMany, batchSize: 3 });
    for (let key = 0; key < 10; key++) cache.set(key, 'old');
    await clock.advance(1000);
    group.requestStart();
    for (const sizes of [
      [3, 3],
      [3, 3, 3],
      [3, 3, 3, 1],
    ]) {
      await clock.flush();
      expect(calls.map(({ keys }) => keys.length)).toEqual(sizes);
      calls[sizes.length - 2]?.end();
    }
    for (const { end } of calls) end();
    await clock.flush();
    expect([group.inspect().running, calls.length, cache.peek(9)]).toEqual([0, 4, 'new']);
    expect(calls.flatMap(({ keys }) => keys).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('starts the keys in it, once they were invalidated or their cool-down is over', async () => {
    const { clock, group, started } = make({ coolDown: 5000 });
    const load = async (key: string) => {
      started.push(key);
      if (key === 'absent') return absent();
      if (key === 'fails' && started.length > 4) throw new Error('down');
      return loaded(key, { tags: [key.slice(0, 1)] });
    };
    const cache = group.cache<string, string>({ name: 'c', load, random: unspread, max: 4 });
    for (const key of ['evicted', 'fails', 'a1', 'a2', 'deleted', 'absent'])
      await cache.get(key).catch(() => {});
    cache.delete('deleted');
    async function startedBy(action: () => void): Promise<string> {
      started.splice(0, started.length, ...'....');
      action();
      group.requestStart();
      await clock.flush();
      return started.slice(4).sort().join();
    }
    expect(await startedBy(() => {})).toBe('');
    expect(await startedBy(() => cache.invalidateTag('a'))).toBe('a1,a2');
    expect(await startedBy(() => cache.invalidate('fails'))).toBe('fails');
    expect(await startedBy(() => cache.invalidate())).toBe('a1,a2');
    await clock.advance(4999);
    expect(await startedBy(() => cache.invalidateWhere((key) => key === 'a2'))).toBe('a2');
    await clock.advance(1);
    expect(await startedBy(() => {})).toBe('fails');
    await clock.advance(HOUR);
    expect(await startedBy(() => cache.pause())).toBe('');
    expect(await startedBy(() => cache.resume())).toBe('a1,a2,fails');
  });

  for (const how of ['pause', 'close'] as const) {
    it(`may ${how} while a batch is being started`, async () => {
      const { clock, group } = make();
      const loadMany = async (keys: readonly number[]) => new Map(keys.map((key) => [key, 'new']));
      const cache = group.cache<number, string>({ name: 'c', loadMany, random: unspread, schedule: 1000 });
      for (let key = 0; key < 5; key++) cache.set(key, 'old');
      let starts = 0;
      cache.on('load-started', () => {
        starts += 1;
        void cache[how]();
      });
      await clock.advance(1000);
      clock.limit = clock.asked + 1000;
      try {
        group.requestStart();
      } finally {
        clock.limit = Infinity;
      }
      await clock.flush();
      expect([starts, group.inspect().running]).toEqual([1, 0]);
    });
  }

  it('starts a key that falls due at the instant of a read of another, fresh key', async () => {
    const { clock, group, started, value } = make({});
    const cache = group.cache<string, string>({ name: 'c', load, schedule: HOUR, random: unspread });
    cache.set('k', 'x');
    value('a', 1000);
    await clock.advance(999);
    cache.current('k');
    await clock.flush();
    expect(started).toEqual([]);
    await clock.advance(1);
    cache.current('k');
    await clock.flush();
    expect(started).toEqual(['a']);
  });

  it('starts each key once in a pass, also one that is invalidated after its load', async () => {
    const { clock, group, started } = make({ concurrency: 1 });
    const cache = group.cache<string, string>({
      name: 'c',
      load: async (key) => {
        if (started.push(key) < 20 && key === 'b') cache.invalidate('a');
        return 'new';
      },
      schedule: 10,
      random: unspread,
    });
    for (const key of ['a', 'b']) cache.set(key, 'old');
    await clock.advance(100);
    for (const loads of ['a,b', 'a,b,a']) {
      group.requestStart();
      await clock.advance(1);
      expect(started.join()).toBe(loads);
    }
  });

  it('counts a batch as one load until the last of its keys has settled', async () => {
    const { clock, group } = make({ concurrency: 1 });
    const batches: ((answers: Map<string, string>) => void)[] = [];
    const loadMany = () => new Promise<Map<string, string>>((resolve) => batches.push(resolve));
    const cache = group.cache({ name: 'c', loadMany, batchSize: 2, random: unspread, schedule: 10 });
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, 'old');
    await clock.advance(10);
    group.requestStart();
    await clock.flush();
    cache.set('a', 'by hand');
    await clock.flush();
    expect([group.inspect().running, batches.length]).toEqual([1, 1]);
    batches[0]?.(new Map([['b', 'new']]));
    await clock.flush();
    expect([group.inspect().running, batches.length]).toEqual([1, 2]);
  });

  it('paused while a batch is being started, it starts the rest once resumed, in the same pass', async () => {
    const { clock, group, started } = make({ concurrency: 2 });
    const other = new ManualLoad<string>();
    group.value({ name: 'other', load: other.load, schedule: 5 }).set('old');
    const loadMany = async (keys: readonly string[]) => new Map(keys.map((key) => [key, 'new']));
    const cache = group.cache<string, string>({ name: 'c', loadMany, random: unspread, schedule: 10 });
    for (const key of ['a', 'b', 'c']) cache.set(key, 'old');
    cache.on('load-started', ({ key }) => {
      if (started.push(String(key)) === 1) cache.pause();
    });
    await clock.advance(10);
    group.requestStart();
    await clock.flush();
    expect(started).toHaveLength(1);
    cache.resume();
    other.call(0).resolve('new'); // its place is free for the rest
    await clock.flush();
    expect([started.length, started.toSorted()]).toEqual([3, ['a', 'b', 'c']]);
  });

  it('starts no key again whose load requests a start, and scans its keys once for all', async () => {
    const { clock, group, started } = make();
    const scans = vi.spyOn(KeyedEntries.prototype, 'eachLoaded');
    onTestFinished(() => scans.mockRestore());
    const load = (key: string): string => {
      started.push(key);
      group.requestStart();
      return 'new';
    };
    const cache = group.cache<string, string>({ name: 'c', load, random: unspread, schedule: 10 });
    for (const key of ['a', 'b', 'c']) cache.set(key, 'old');
    await clock.advance(10);
    await cache.refresh('a');
    await clock.flush();
    expect([started.toSorted(), scans.mock.calls.length]).toEqual([['a', 'b', 'c'], 1]);
  });

  describe('and the wall clock', () => {
    function daily() {
      const clock = new FakeClock({ now: '2026-06-01T04:00:00Z' });
      const group = new RefreshGroup({ clock, retry: false, logger: false });
      const started: string[] = [];
      const load = (key: string): KeyedLoadReturn<string> => {
        started.push(key);
        return key === 'in an hour' ? loaded(key, { dueAfter: HOUR + 1 }) : key;
      };
      const schedule = withJitter(dailyAt('05:00', { zone: 'UTC' }), 0);
      const cache = group.cache<string, string>({ name: 'c', load, schedule });
      return { clock, group, cache, started };
    }

    it('follows a step of it with keys of calendar schedules, within a minute', async () => {
      const { clock, group, cache, started } = daily();
      cache.set('at five', 'old');
      clock.stepWall({ hours: 2 });
      for (let second = 0; second < 180; second++) {
        await clock.advance(1000);
        group.requestStart();
      }
      await clock.flush();
      expect(started).toEqual(['at five']);
    });

    it('starts a key that its own check of the clocks finds not due yet, once it is due', async () => {
      const { clock, group, cache, started } = daily();
      cache.set('at five', 'old');
      await cache.get('in an hour');
      await clock.advance({ minutes: 59, seconds: 20 });
      group.requestStart(); // which checks the clocks, and not again for a minute
      clock.stepWall({ hours: -2 });
      await clock.advance(50_000);
      group.requestStart(); // an hour has passed, and it is ten past three
      await clock.flush();
      expect(started).toEqual(['in an hour', 'in an hour']);
      await clock.advance({ hours: 2 });
      group.requestStart();
      await clock.flush();
      expect(started.slice(2).sort()).toEqual(['at five', 'in an hour']);
    });
  });

  it('keeps the process alive for the loads of its keys while a caller waits for their end', async () => {
    const clock = new HoldingClock();
    const group = new RefreshGroup({ clock, retry: false, logger: false, timeout: 500 });
    const { manual } = await dueKeys({ group, clock }, 'ab');
    await clock.advance(1000);
    group.requestStart();
    await clock.flush();
    expect([manual.live, clock.timerCount, clock.held]).toEqual([2, 2, 0]);
    group.requestStart({ waitUntil: () => {} });
    expect(clock.held).toBe(2);
    for (const call of manual.calls) call.resolve('new');
    await clock.flush();
    expect([clock.timerCount, clock.held]).toEqual([0, 0]);
  });

  it('keeps no state of a load when a caller asks to wait as it ends', async () => {
    const { clock, group } = make();
    const cache = group.cache({ name: 'c', load, schedule: 10, max: 1 });
    cache.set('a', 'old');
    onEnded(cache, 'loaded', () => group.requestStart({ waitUntil: () => {} }));
    await clock.advance(20);
    group.requestStart({ waitUntil: () => {} });
    await clock.flush();
    cache.set('b', 'new');
    expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, 'new']);
  });

  it('reports its state: how many keys load, and whether it is paused or closed', async () => {
    const { clock, group } = make();
    const { cache, manual } = await dueKeys({ group, clock }, 'ab');
    await clock.advance(1000);
    const state = () => group.inspect().members[0];
    cache.current('a');
    cache.refresh('b').catch(() => {});
    await clock.flush();
    const counted = { size: 2, running: 2, failing: 0, refusesReads: false };
    const { counts, executions } = cache.inspect();
    expect(state()).toEqual({ name: 'c', ...counted, counts, executions, paused: false, closed: false });
    manual.call(0).resolve('new');
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    expect(state()).toMatchObject({ running: 0, failing: 1 });
    cache.pause();
    expect(state()).toMatchObject({ paused: true, closed: false });
    await group.close();
    expect(state()).toMatchObject({ paused: false, closed: true });
  });

  it('reports keys that fail in one line, cold ones too, and ready() does not wait for them', async () => {
    const { clock, group } = make();
    const { cache, manual } = await dueKeys({ group, clock }, '');
    for (const [key, message] of [
      ['k0', 'a key failed, for example "k0": load failed: down'],
      ['k1', '2 keys failed, for example "k1": load failed: down'],
    ]) {
      const failed = rejectionOf(cache.get(key as string));
      manual.call(-1).reject(new Error('down'));
      await failed;
      const { ok, problems } = group.health();
      expect([ok, problems.length, problems[0]]).toMatchObject([true, 1, { key, message }]);
    }
    expect(await group.ready()).toEqual({ ok: true, problems: [] });
  });
});

describe('requestStart of a cache', () => {
  it('starts its due keys, the soonest first and four at a time, and with wait resolves at their end', async () => {
    const clock = new FakeClock();
    const { cache, manual, order } = await dueKeys({ clock }, 'fbacde.');
    await clock.advance(998);
    const ends: Promise<unknown>[] = [];
    const waitUntil = (end: Promise<unknown>) => void ends.push(end);
    expect(await settled(cache.requestStart({ waitUntil }))).toEqual({ value: undefined });
    const wait = cache.requestStart({ wait: true });
    await clock.flush();
    for (let call = 0; call < 6; call++) {
      expect([order.join(''), manual.live]).toEqual(['fbacde'.slice(0, call + 4), Math.min(4, 6 - call)]);
      expect([await settled(wait), await settled(ends[0] as Promise<void>)]).toEqual(['pending', 'pending']);
      if (call % 2 === 0) manual.call(call).reject(new Error('down'));
      else manual.call(call).resolve('new');
      await clock.flush();
    }
    expect([await settled(wait), await settled(ends[0] as Promise<void>)]).toEqual([
      { value: undefined },
      { value: undefined },
    ]);
    expect([order.length, cache.peek('f'), cache.peek('b')]).toEqual([6, 'old', 'new']);
  });

  it('survives a waitUntil that throws, and does not call it when no key is due', async () => {
    const logger = recordLines();
    const cache = new RefreshingCache<string, string>({ name: 'c', load, clock: new FakeClock(), logger });
    const waitUntil = (): never => {
      throw new Error('no context');
    };
    expect(await settled(cache.requestStart({ wait: true, waitUntil }))).toEqual({ value: undefined });
    expect(logger.lines).toEqual(['error tickless: c: waitUntil threw: no context']);
  });

  it('ends with the cache: a waiting call resolves, and a later one rejects with CLOSED', async () => {
    const clock = new FakeClock();
    const { cache, manual } = await dueKeys({ clock }, 'abcdef');
    await clock.advance(2000);
    const wait = cache.requestStart({ wait: true });
    await clock.flush();
    await cache.close({ timeout: 0 });
    expect([await settled(wait), manual.calls.length, manual.live]).toEqual([{ value: undefined }, 4, 0]);
    expect(isTicklessError(await rejectionOf(cache.requestStart()), 'CLOSED')).toBe(true);
    expect(clock.timerCount).toBe(0);
  });
});
