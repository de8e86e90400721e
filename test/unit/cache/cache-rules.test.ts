import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/index.ts';
import { withJitter } from '../../../src/index.ts';
import type { CoolDownOptions } from '../../../src/options/shared-options.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents, recordLines } from '../../support/events.ts';
import { type FakeCache, type FakeCacheOptions, fakeCache } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

const HOUR = 3_600_000;

/** A cache whose loads end when the test says so. `of`: the loads of a key. */
function manual(options: FakeCacheOptions = {}): FakeCache & { of(key: string): ManualLoad<string> } {
  const loads = new Map<string, ManualLoad<string>>();
  const of = (key: string): ManualLoad<string> => {
    const load = loads.get(key) ?? new ManualLoad<string>();
    loads.set(key, load);
    return load;
  };
  return { of, ...fakeCache({ load: (key, context) => of(key).load(context), ...options }) };
}

describe('rule 5: each key cools down by itself', () => {
  const coolDown: CoolDownOptions = { initial: 1000, factor: 1 };

  it('reads of a key that fails cause one load per cool-down, those of others load at once', async () => {
    const calls: string[] = [];
    const load = async (key: string): Promise<string> => {
      calls.push(key);
      if (key === 'down') throw new Error('down');
      return key;
    };
    const { clock, cache } = manual({ load, coolDown, random: () => 0.999 });
    await rejectionOf(cache.get('down'));
    for (let i = 0; i < 50; i++) {
      const error = await rejectionOf(cache.get('down'));
      expect(error).toMatchObject({ code: 'COOLING_DOWN', key: 'down', cause: { code: 'LOAD_FAILED' } });
      expect(await cache.get(`up${i}`)).toBe(`up${i}`);
    }
    expect(calls.filter((key) => key === 'down')).toHaveLength(1);
    for (let i = 0; i < 100; i++) {
      await clock.advance(100);
      await rejectionOf(cache.get('down'));
    }
    expect(calls.filter((key) => key === 'down')).toHaveLength(11);
  });

  for (const how of ['delete', 'clear', 'invalidate', 'drop'] as const) {
    for (const isLoaded of [false, true]) {
      it(`${how} does not end the cool-down of a key ${isLoaded ? 'with' : 'without'} a value`, async () => {
        const { of, cache } = manual({ coolDown });
        if (isLoaded) cache.set('a', 'held');
        const failed = rejectionOf(cache.refresh('a'));
        of('a').call(0).reject(new Error('down'));
        await failed;
        if (how === 'delete') cache.delete('a');
        else if (how === 'clear') cache.clear();
        else cache.invalidate('a', { drop: how === 'drop' });
        const read = await settled(cache.get('a'));
        if (isLoaded && how === 'invalidate') expect(read).toEqual({ value: 'held' });
        else expect(read).toMatchObject({ error: { code: 'COOLING_DOWN', key: 'a' } });
        expect(of('a').calls).toHaveLength(1);
      });
    }
  }
});

describe('rule 6: failures behind readers', () => {
  it('reach the listeners and the logger with the key, and no reader', async () => {
    const logger = recordLines();
    const { clock, of, cache } = manual({ logger });
    cache.set('a', 'held');
    await clock.advance(1000);
    const fail = async (): Promise<void> => {
      expect(await cache.get('a')).toBe('held');
      await clock.flush();
      of('a').call(-1).reject(new Error('down'));
      await clock.flush();
    };
    await fail();
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatch(/^warn tickless: c: background load of "a" failed at attempt 1.*: down$/);
    const events = recordEvents(cache);
    await clock.advance(1000);
    await fail();
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'load-ended', outcome: 'failed', key: 'a', background: true }),
    );
    expect(logger.lines).toHaveLength(1);
  });

  it('the dropped promise of any call causes no unhandled rejection', async () => {
    const unhandled = unhandledRejections();
    const { clock, cache } = manual({ load: () => Promise.reject(new Error('down')) });
    void [cache.get('a'), cache.refresh('b'), cache.getMany(['c', 'd']), cache.get(undefined as never)];
    void cache.close();
    void cache.requestStart();
    await clock.flush();
    await clock.flush();
    expect(unhandled).toEqual([]);
  });
});

describe('rule 7: a load begun before never overwrites a change that came after', () => {
  for (const how of ['invalidate', 'invalidate all', 'invalidateWhere', 'drop', 'delete', 'clear'] as const) {
    it(`${how} during a first load: who came before gets its result, who comes after the successor`, async () => {
      const { clock, of, cache } = manual();
      const before = [
        cache.get('a'),
        cache.get('a', { signal: new AbortController().signal }),
        cache.refresh('a'),
      ];
      const other = cache.get('b');
      if (how === 'invalidate') cache.invalidate('a');
      else if (how === 'invalidate all') cache.invalidate();
      else if (how === 'invalidateWhere') cache.invalidateWhere((key) => key === 'a');
      else if (how === 'drop') cache.invalidate('a', { drop: true });
      else if (how === 'delete') cache.delete('a');
      else cache.clear();
      const after = [cache.get('a'), cache.refresh('a')];
      of('a').call(0).resolve('old');
      expect(await Promise.all(before)).toEqual(['old', 'old', 'old']);
      expect(cache.peek('a')).toBe(how.startsWith('invalidate') ? 'old' : undefined);
      await clock.flush();
      expect(of('a').calls).toHaveLength(2);
      of('a').call(1).resolve('new');
      expect(await Promise.all(after)).toEqual(['new', 'new']);
      of('b').call(0).resolve('b');
      expect([await other, of('a').mostLive, of('b').mostLive]).toEqual(['b', 1, 1]);
      expect(of('b').calls).toHaveLength(1);
    });
  }

  it('a key deleted during its background reload is not there again when that ends', async () => {
    const { clock, of, cache } = manual();
    cache.set('a', 'held');
    await clock.advance(1000);
    cache.current('a');
    await clock.flush();
    const deleted = cache.delete('a');
    expect(await deleted).toBe(true);
    of('a').call(0).resolve('old');
    await clock.flush();
    expect([cache.size, cache.peek('a'), cache.inspect('a'), clock.timerCount]).toEqual([
      0,
      undefined,
      undefined,
      0,
    ]);
  });
});

describe('rule 9: the clocks', () => {
  for (const step of [-5 * HOUR, 5 * HOUR]) {
    it(`after a step of ${step / HOUR} h durations go on by elapsed time, and the age is right`, async () => {
      const { clock, cache } = manual({ load: (key) => key, schedule: { minutes: 10 } });
      cache.current('a');
      await clock.advance({ minutes: 5 });
      cache.current('b');
      clock.stepWall(step);
      const loads: [number, unknown][] = [];
      let minute = 5;
      cache.on('load-started', ({ key }) => void loads.push([minute, key]));
      for (minute = 6; minute <= 26; minute++) {
        await clock.advance({ minutes: 1 });
        for (const key of ['a', 'b']) cache.current(key);
        await clock.flush();
      }
      expect(loads).toEqual([
        [10, 'a'],
        [15, 'b'],
        [20, 'a'],
        [25, 'b'],
      ]);
      expect(cache.inspect('a')).toMatchObject({ age: 6 * 60_000, loadedAt: clock.now() - 6 * 60_000 });
    });

    it(`a step of ${step / HOUR} h in the middle of the spread starts no storm`, async () => {
      const keys = Array.from({ length: 1000 }, (_, index) => `k${index}`);
      let loads = 0;
      const load = async (key: string): Promise<string> => {
        loads += 1;
        return key;
      };
      const { clock, cache } = manual({ load, random: Math.random, schedule: { minutes: 100 } });
      const pass = async (minutes: number): Promise<number> => {
        const before = loads;
        await clock.advance({ minutes });
        for (const key of keys) cache.current(key);
        await clock.flush();
        return loads - before;
      };
      await cache.getMany(keys);
      for (let i = 0; i < 15; i++) await pass(10);
      clock.stepWall(step);
      // A tenth of the keys falls due in a tenth of the period; up to twice as many do not count as a storm.
      expect(await pass(10)).toBeLessThan(200);
    });
  }

  it('a calendar schedule follows the wall clock, for each key', async () => {
    const clock = new FakeClock({ now: '2026-06-01T04:00:00Z' });
    const schedule = withJitter(dailyAt('05:00', { zone: 'UTC' }), 0);
    const { cache } = manual({ load: (key) => key, schedule, clock });
    for (const key of ['a', 'b']) cache.current(key);
    let loads = 0;
    cache.on('load-started', () => void loads++);
    clock.stepWall(2 * HOUR);
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance({ minutes: 1 });
      for (const key of ['a', 'b']) cache.current(key);
    }
    await clock.flush();
    expect(loads).toBe(2);
    expect(cache.inspect('a')?.nextExecuteTime).toBe(Date.UTC(2026, 5, 2, 5));
  });
});

describe("rule 10: the caller's context stays out", () => {
  const storage = new AsyncLocalStorage<string>();
  for (const many of [false, true]) {
    it(`its AsyncLocalStorage, with ${many ? 'loadMany' : 'load'}`, async () => {
      const seen: unknown[] = [];
      const note = async (): Promise<void> => {
        seen.push(storage.getStore());
        await null;
        seen.push(storage.getStore());
        if (seen.length <= 2) throw new Error('again');
      };
      const load = async (key: string): Promise<string> => note().then(() => key);
      const loadMany = async (keys: readonly string[]): Promise<Map<string, string>> =>
        note().then(() => new Map(keys.map((key) => [key, key])));
      const own = many ? { load: undefined, loadMany, batchSize: 2 } : { load };
      const { clock, cache } = manual({ ...own, retry: { retries: 1, minTimeout: 10, randomize: false } });
      const first = storage.run('get', () => cache.get('a'));
      await clock.advance(10);
      await first;
      const stores = await storage.run('many', async () => {
        await cache.getMany(['b', 'c', 'd']);
        return storage.getStore();
      });
      await clock.advance(1000);
      storage.run('due', () => cache.current('a'));
      await clock.flush();
      const refreshed = storage.run('refresh', () => cache.refresh('a'));
      storage.run('invalidate', () => cache.invalidate('a'));
      await clock.flush();
      await refreshed;
      expect(stores).toBe('many');
      expect(seen.length).toBeGreaterThanOrEqual(10);
      expect(new Set(seen)).toEqual(new Set([undefined]));
    });
  }
});

it('a read of a key that has no JSON is answered with the error of its load', async () => {
  const load = () => Promise.reject(new Error('down'));
  const { cache } = fakeCache<object, number>({ load, keyOf: () => 'k' });
  const key = { toJSON: () => undefined };
  expect(await rejectionOf(cache.get(key))).toMatchObject({ code: 'LOAD_FAILED', key });
  expect(await rejectionOf(cache.get(key))).toMatchObject({ code: 'COOLING_DOWN', key });
});
