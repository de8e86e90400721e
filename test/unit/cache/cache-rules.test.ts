import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/index.ts';
import { RefreshingCache, withJitter } from '../../../src/index.ts';
import type { CoolDownOptions } from '../../../src/options/shared-options.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded, recordEvents, recordLines } from '../../support/events.ts';
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

describe('rule 1: one load per key', () => {
  it('however many readers, also while it is reloaded', async () => {
    const { clock, of, cache } = manual();
    const reads = ['a', 'b'].flatMap((key) => Array.from({ length: 100 }, () => cache.get(key)));
    for (const key of ['a', 'b']) of(key).call(0).resolve(key);
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['a', 'b']));
    await clock.advance(1000);
    for (let i = 0; i < 100; i++) for (const key of ['a', 'b']) cache.current(key);
    await clock.flush();
    const refresh = cache.refresh('a');
    of('a').call(1).resolve('a2');
    expect(await refresh).toBe('a2');
    expect(['a', 'b'].map((key) => [of(key).calls.length, of(key).mostLive])).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });

  it('a load past its timeout frees the slot of its key, and its late result is dropped', async () => {
    const { clock, of, cache } = manual({ timeout: 500, coolDown: 100 });
    const events = recordEvents(cache);
    const late = rejectionOf(cache.get('a'));
    await clock.advance(300);
    const other = cache.get('b');
    await clock.advance(200);
    expect(await late).toMatchObject({ code: 'TIMED_OUT', key: 'a', attempts: 1 });
    expect(of('a').call(0).context.signal.aborted).toBe(true);
    expect(of('b').call(0).context.signal.aborted).toBe(false);
    of('b').call(0).resolve('b');
    expect(await other).toBe('b');
    await clock.advance(100);
    const again = cache.get('a');
    of('a').call(0).resolve('late');
    await clock.flush();
    expect(events.at(-1)).toMatchObject({ type: 'load-ended', outcome: 'late', key: 'a' });
    of('a').call(1).resolve('new');
    expect([await again, cache.current('a')]).toEqual(['new', 'new']);
  });
});

describe('rules 2 and 3: readers of one key', () => {
  it('never wait once it is loaded, whatever its own reload or that of others does', async () => {
    const { clock, cache } = manual();
    cache.set('a', 'held');
    await clock.advance(1000);
    void cache.get('cold');
    expect([cache.current('a'), await settled(cache.get('a'))]).toEqual(['held', { value: 'held' }]);
    await clock.flush();
    expect([cache.current('a'), await settled(cache.get('a'))]).toEqual(['held', { value: 'held' }]);
    expect(await settled(cache.get('cold'))).toBe('pending');
  });

  it('share one first load and its failure, which is not that of another key', async () => {
    const { of, cache } = manual();
    const failures = [cache.get('a'), cache.get('a')].map(rejectionOf);
    const other = cache.get('b');
    of('a').call(0).reject(new Error('down'));
    of('b').call(0).resolve('b');
    const [one, two] = await Promise.all(failures);
    expect(one).toBe(two);
    expect(one).toMatchObject({ code: 'LOAD_FAILED', key: 'a', member: 'c', cause: { message: 'down' } });
    expect(await other).toBe('b');
  });
});

describe('rule 4: the mark "running" of a key never sticks', () => {
  const hostile: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['never settles', () => new Promise(() => {})],
    ['returns undefined', () => undefined],
    [
      'has a then that throws',
      () => ({
        then: () => {
          throw new Error('then');
        },
      }),
    ],
  ];
  for (const [what, load] of hostile) {
    it(`when the load ${what}`, async () => {
      let calls = 0;
      const answer = (key: string): unknown => (key === 'good' || ++calls > 1 ? key : load());
      const { clock, cache } = manual({ load: answer as never, timeout: 200, coolDown: 100 });
      onEnded(cache, 'failed', () => {
        throw new Error('listener');
      });
      const failed = rejectionOf(cache.get('bad'));
      expect(await cache.get('good')).toBe('good');
      await clock.advance(200);
      expect(await failed).toMatchObject({ key: 'bad' });
      expect(cache.inspect('bad')).toMatchObject({ running: false, failures: 1 });
      await clock.advance(100);
      expect(await cache.get('bad')).toBe('bad');
    });
  }

  it('when the schedule returns no valid next execute time', async () => {
    let calls = 0;
    const schedule = (): number => (++calls === 1 ? Number.NaN : Number.POSITIVE_INFINITY);
    const { clock, cache } = manual({ load: (key) => key, schedule, coolDown: 100 });
    expect([cache.current('a'), cache.current('b')]).toEqual(['a', 'b']);
    expect(cache.inspect('a')).toMatchObject({ running: false, failures: 1, lastError: { key: 'a' } });
    expect(cache.inspect('b')).toMatchObject({ failures: 0, nextExecuteTime: Number.POSITIVE_INFINITY });
    await clock.advance(100);
    cache.current('a');
    await clock.flush();
    expect(cache.inspect('a')).toMatchObject({ failures: 0 });
  });
});

describe('rule 5: each key cools down by itself', () => {
  const coolDown: CoolDownOptions = { initial: 1000, factor: 1 };
  const down = (key: string): string => {
    if (key === 'down') throw new Error('down');
    return key;
  };

  it('reads of a key that fails cause one load per cool-down, those of others load at once', async () => {
    const calls: string[] = [];
    const load = async (key: string): Promise<string> => {
      calls.push(key);
      return down(key);
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

  for (const how of ['get', 'refresh', 'getMany', 'requestStart', 'an undefined key'] as const) {
    it(`the dropped promise of ${how} never causes an unhandled rejection`, async () => {
      const unhandled = unhandledRejections();
      const { clock, cache } = manual({ load: () => Promise.reject(new Error('down')) });
      if (how === 'get') void cache.get('a');
      else if (how === 'refresh') void cache.refresh('a');
      else if (how === 'getMany') void cache.getMany(['a', 'b']);
      else if (how === 'an undefined key') void cache.get(undefined as never);
      else {
        void cache.close();
        void cache.requestStart();
      }
      await clock.flush();
      await clock.flush();
      expect(unhandled).toEqual([]);
    });
  }
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

  it('set during a load: its waiters get what was set, and it stays', async () => {
    const { clock, of, cache } = manual();
    const waiting = [cache.get('a'), cache.refresh('a')];
    cache.set('a', 'hand');
    of('a').call(0).resolve('old');
    await clock.flush();
    expect([await Promise.all(waiting), cache.current('a')]).toEqual([['hand', 'hand'], 'hand']);
    expect(of('a').calls).toHaveLength(1);
  });

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

it('rule 8: idle means idle: there is no timer but for loads under way, however these end', async () => {
  const { clock, of, cache } = manual({
    retry: { retries: 1, minTimeout: 100, randomize: false },
    timeout: 5000,
  });
  const [a, b] = [cache.get('a'), rejectionOf(cache.get('b'))];
  const c = rejectionOf(cache.get('c'));
  expect(clock.timerCount).toBe(3);
  of('a').call(0).resolve('a');
  of('b').call(0).reject(new Error('down'));
  await a;
  await clock.advance(100);
  of('b').call(1).reject(new Error('down'));
  await b;
  await clock.flush();
  expect(clock.timerCount).toBe(1);
  await clock.advance(5000);
  expect(await c).toMatchObject({ code: 'TIMED_OUT', key: 'c' });
  void cache.get('d');
  cache.clear();
  cache.set('d', 'd');
  expect(clock.timerCount).toBe(1); // the aborted load has not settled
  of('d').call(0).reject(new Error('aborted'));
  await clock.flush();
  expect(clock.timerCount).toBe(0);
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

  it('its signal ends its own wait, and neither the load nor the wait of others', async () => {
    const { of, cache } = manual();
    const controller = new AbortController();
    const impatient = rejectionOf(cache.get('a', { signal: controller.signal }));
    const patient = cache.get('a');
    controller.abort(new Error('client gone'));
    expect(await impatient).toMatchObject({ message: 'client gone' });
    expect(of('a').call(0).context.signal.aborted).toBe(false);
    of('a').call(0).resolve('a');
    expect(await patient).toBe('a');
  });
});

it('a read of a key that has no JSON is answered with the error of its load', async () => {
  const load = (): never => {
    throw new Error('down');
  };
  const cache = new RefreshingCache<object, number>({
    name: 'c',
    load,
    keyOf: () => 'k',
    retry: false,
    logger: false,
  });
  const key = { toJSON: () => undefined };
  expect(await rejectionOf(cache.get(key))).toMatchObject({ code: 'LOAD_FAILED', key });
  expect(await rejectionOf(cache.get(key))).toMatchObject({ code: 'COOLING_DOWN', key });
});
