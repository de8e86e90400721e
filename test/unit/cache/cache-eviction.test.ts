import { describe, expect, it } from 'vitest';
import { absent, isTicklessError, type KeyedLoadReturn, keep } from '../../../src/index.ts';
import { recordEvents, recordLines } from '../../support/events.ts';
import { type FakeCache, type FakeCacheOptions, fakeCache as make } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

type Options = FakeCacheOptions;

/** Loads of `a` end when the test says so, all others at once. */
function manualA(options: Options): FakeCache & { readonly manual: ManualLoad<string> } {
  const manual = new ManualLoad<string>();
  return {
    manual,
    ...make({ load: (key, context) => (key === 'a' ? manual.load(context) : key), ...options }),
  };
}

describe('a key that is evicted during its load', () => {
  it('answers its waiters, and never has two live loads', async () => {
    const { clock, cache, manual } = manualA({ max: 2 });
    cache.set('a', 'old');
    await clock.advance(1000);
    const refresh = cache.refresh('a');
    for (const key of ['b', 'c', 'd']) await cache.get(key);
    expect({ keys: [...cache.keys()], size: cache.size }).toEqual({ keys: ['c', 'd'], size: 2 });
    const again = [cache.refresh('a'), cache.refresh('a')];
    manual.call(0).resolve('new');
    expect([await refresh, ...(await Promise.all(again))]).toEqual(['new', 'new', 'new']);
    expect({ calls: manual.calls.length, mostLive: manual.mostLive }).toEqual({ calls: 1, mostLive: 1 });
    expect(cache.peek('a')).toBe('new');
    expect({ size: cache.size, keys: [...cache.keys()] }).toEqual({ size: 2, keys: ['d', 'a'] });
  });

  it('is served its old value until the load has settled; peek, inspect and delete agree', async () => {
    const { clock, cache } = manualA({ max: 1 });
    cache.set('a', 'old');
    await clock.advance(1000);
    void cache.get('a'); // due: reloads behind
    await cache.get('b');
    expect({ keys: [...cache.keys()], size: cache.size }).toEqual({ keys: ['b'], size: 1 });
    expect(await cache.get('a')).toBe('old');
    expect([cache.peek('a'), cache.inspect('a')?.value]).toEqual(['old', 'old']);
    const deleted = cache.delete('a');
    expect([cache.peek('a'), await deleted, await cache.delete('a')]).toEqual([undefined, true, false]);
  });

  it('rejects its waiters when the load fails, and then cools down', async () => {
    const { cache, manual } = manualA({ max: 1 });
    cache.set('a', 'old');
    const failed = rejectionOf(cache.refresh('a'));
    await cache.get('b');
    manual.call(0).reject(new Error('down'));
    expect(await failed).toMatchObject({ code: 'LOAD_FAILED', key: 'a' });
    await settled(cache.get('a'));
    expect({ calls: manual.calls.length, size: cache.size }).toEqual({ calls: 1, size: 1 });
  });

  it('evicts no other key when it is only inspected', async () => {
    const { cache, manual } = manualA({ max: 2 });
    cache.set('a', 'old');
    const refresh = cache.refresh('a');
    for (const key of ['b', 'c']) await cache.get(key);
    cache.inspect('a');
    cache.peek('a');
    cache.invalidateWhere(() => false);
    expect([...cache.keys()]).toEqual(['b', 'c']);
    manual.call(0).resolve('new');
    await refresh;
  });

  it('deleted after its eviction, it answers with a load begun after', async () => {
    const { clock, cache, manual } = manualA({ max: 1 });
    cache.set('a', 'old');
    const refresh = cache.refresh('a');
    await cache.get('b');
    cache.delete('a');
    const after = cache.get('a');
    manual.call(0).resolve('late');
    await clock.flush();
    manual.call(1).resolve('new');
    expect([await refresh, await after, cache.peek('a'), manual.mostLive]).toEqual(['late', 'new', 'new', 1]);
  });
});

describe('maxSize and sizeOf', () => {
  const bySize = { maxSize: 10, sizeOf: (value: string) => Number(value.slice(1)) };
  /** The value of a key: its size. */
  const sized = (sizes: Record<string, string>): Options => ({
    ...bySize,
    load: (key) => sizes[key] ?? absent(),
  });

  it('values are evicted when their sizes add up to more; fractions and 0 count as the next whole number', () => {
    const { cache } = make(sized({ a: '=2.5', b: '=2.1', c: '=3', d: '=0', e: '=1' }));
    for (const key of ['a', 'b', 'c', 'd']) cache.current(key); // 3 + 3 + 3 + 1
    expect(cache.size).toBe(4);
    cache.current('e');
    expect([...cache.keys()]).toEqual(['b', 'c', 'd', 'e']);
  });

  it('a value larger than maxSize fails the load of its key: one load per cool-down, however many reads', async () => {
    const logger = recordLines();
    let loads = 0;
    const load = async (): Promise<string> => {
      loads += 1;
      return '=11';
    };
    const { clock, cache } = make({ ...bySize, load, coolDown: 1000, logger });
    const error = await rejectionOf(cache.get('a'));
    expect(String(error)).toBe(
      'TicklessError: c["a"]: load failed: the value has the size 11, maxSize is 10',
    );
    for (let read = 0; read < 1000; read++) await rejectionOf(cache.get('a'));
    expect({ loads, lines: logger.lines.length }).toEqual({ loads: 1, lines: 1 });
    expect(cache.inspect('a')).toMatchObject({ state: 'empty', failures: 1 });
    await clock.advance(1000);
    await rejectionOf(cache.get('a'));
    expect(loads).toBe(2);
  });

  it('sizeOf is not called for an absent key, nor for keep(): the size is that of the value that stays', async () => {
    const seen: unknown[] = [];
    const load = (key: string, { previous }: { previous?: unknown }): KeyedLoadReturn<string> =>
      key === 'none' ? absent() : previous === undefined ? 'v' : keep();
    const sizeOf = (value: unknown): number => {
      seen.push(value);
      return 4;
    };
    const { clock, cache } = make({ load, maxSize: 10, sizeOf });
    expect(isTicklessError(await rejectionOf(cache.get('none')), 'ABSENT')).toBe(true);
    for (const key of ['a', 'b']) await cache.get(key);
    await cache.refresh('a');
    await clock.flush();
    await cache.get('c');
    expect({ seen, keys: [...cache.keys()] }).toEqual({ seen: ['v', 'v', 'v'], keys: ['b', 'c'] });
  });

  const bad: [string, unknown][] = [
    ['negative', -1],
    ['NaN', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['a string', '5'],
    ['nothing', undefined],
    ['an error that sizeOf throws', new Error('no size')],
  ];
  for (const [what, size] of bad) {
    it(`a size that is ${what} fails the load, or the set, of that key`, async () => {
      const sizeOf = (_value: string, key: string): number => {
        if (key === 'good') return 1;
        if (size instanceof Error) throw size;
        return size as number;
      };
      const { cache } = make({ maxSize: 10, sizeOf, load: async (key) => key });
      const [good, failed] = [cache.get('good'), rejectionOf(cache.get('bad'))];
      expect(await failed).toMatchObject({ code: 'LOAD_FAILED', key: 'bad', member: 'c' });
      expect(await good).toBe('good');
      const error = thrownBy(() => cache.set('bad', 'x'));
      expect(error).toMatchObject({ key: 'bad', ...ofOption('value', 'must have a size up to maxSize: ') });
      expect([...cache.keys()]).toEqual(['good']);
    });
  }

  it('a size that turns bad keeps the value of before, and a bad set changes nothing', async () => {
    const { clock, cache } = make({ ...bySize, load: () => '=x' });
    cache.set('a', '=5');
    await clock.advance(1000);
    expect(cache.current('a')).toBe('=5');
    await clock.flush();
    expect(cache.inspect('a')).toMatchObject({ value: '=5', failures: 1, lastError: { key: 'a' } });
    thrownBy(() => cache.set('a', '=-1'));
    expect([cache.peek('a'), cache.inspect('a')?.failures]).toEqual(['=5', 1]);
  });
});

describe('absent keys', () => {
  /** A source that has what is in it. */
  function source(
    options: Options = {},
  ): FakeCache & { readonly has: Set<string>; readonly asked: string[] } {
    const has = new Set<string>();
    const asked: string[] = [];
    const load = async (key: string): Promise<KeyedLoadReturn<string>> => {
      asked.push(key);
      return has.has(key) ? key : absent();
    };
    return { has, asked, ...make({ load, ...options }) };
  }

  it('are remembered for a minute, and the error has the time left', async () => {
    const { clock, cache, has, asked } = source();
    const events = recordEvents(cache);
    const error = { code: 'ABSENT', key: 'x', member: 'c' };
    expect(await rejectionOf(cache.get('x'))).toMatchObject({ ...error, retryAt: clock.now() + 60_000 });
    expect(events.at(-1)).toMatchObject({ type: 'load-ended', outcome: 'loaded', key: 'x', isAbsent: true });
    has.add('x');
    await clock.advance(20_000);
    expect(thrownBy(() => cache.current('x'))).toMatchObject({ ...error, retryAt: clock.now() + 40_000 });
    expect(cache.inspect('x')).toMatchObject({ state: 'absent', failures: 0 });
    expect([cache.size, cache.peek('x'), asked.length, clock.timerCount]).toEqual([0, undefined, 1, 0]);
    await clock.advance(40_000);
    expect(await cache.get('x')).toBe('x');
    expect(cache.inspect('x')).toMatchObject({ state: 'fresh', lastError: undefined });
  });

  it('absentFor 0: the next read loads again; Infinity: none does', async () => {
    for (const [absentFor, calls] of [
      [0, 3],
      [Number.POSITIVE_INFINITY, 1],
    ] as const) {
      const { clock, cache, asked } = source({ absentFor });
      for (let i = 0; i < 3; i++) {
        expect(await rejectionOf(cache.get('x'))).toMatchObject({
          code: 'ABSENT',
          retryAt: clock.now() + absentFor,
        });
        if (absentFor > 0) await clock.advance({ days: 365 });
      }
      expect(asked).toHaveLength(calls);
    }
  });

  for (const how of ['invalidate', 'invalidate all', 'delete', 'clear', 'set', 'refresh'] as const) {
    it(`${how} ends it`, async () => {
      const { cache, has } = source({ absentFor: Number.POSITIVE_INFINITY });
      await rejectionOf(cache.get('x'));
      has.add('x');
      if (how === 'invalidate') cache.invalidate('x');
      else if (how === 'invalidate all') cache.invalidate();
      else if (how === 'delete') expect(await cache.delete('x')).toBe(false);
      else if (how === 'clear') cache.clear();
      else if (how === 'set') cache.set('x', 'x');
      else await cache.refresh('x');
      expect(await cache.get('x')).toBe('x');
      expect(cache.inspect('x')).toMatchObject({ state: 'fresh', lastError: undefined });
    });
  }

  it('absent() of a refresh rejects with ABSENT, and a failure after it with LOAD_FAILED', async () => {
    let isDown = false;
    const load = (): KeyedLoadReturn<string> => {
      if (isDown) throw new Error('down');
      return absent();
    };
    const { cache } = make({ load });
    expect(await rejectionOf(cache.refresh('x'))).toMatchObject({ code: 'ABSENT', key: 'x' });
    isDown = true;
    expect(await rejectionOf(cache.refresh('x'))).toMatchObject({ code: 'LOAD_FAILED', key: 'x' });
    expect(await rejectionOf(cache.get('x'))).toMatchObject({ code: 'COOLING_DOWN', key: 'x' });
  });
});

describe('4000 look-ups of nonsense keys', () => {
  const reals = Array.from({ length: 100 }, (_, index) => `real${index}`);
  const nonsense = Array.from({ length: 4000 }, (_, index) => `x${index}`);
  const answers: [string, () => KeyedLoadReturn<string>][] = [
    ['absent', absent],
    [
      'failing',
      () => {
        throw new Error('no such key');
      },
    ],
  ];
  for (const [what, answer] of answers) {
    for (const isConcurrent of [false, true]) {
      it(`${what}, ${isConcurrent ? 'all at once' : 'one by one'}: evict no value, and few are remembered`, async () => {
        const asked: string[] = [];
        const load = async (key: string): Promise<KeyedLoadReturn<string>> => {
          asked.push(key);
          return key.startsWith('real') ? key : answer();
        };
        const { clock, cache } = make({ load, max: 100, schedule: { hours: 1 } });
        await cache.getMany(reals);
        if (isConcurrent) await Promise.all(nonsense.map((key) => rejectionOf(cache.get(key))));
        else for (const key of nonsense) await rejectionOf(cache.get(key));
        expect([...cache.keys()]).toEqual(reals);
        reals.forEach((key) => void cache.current(key));
        expect(asked.length).toBe(4100);
        // Of absent keys a tenth of max is remembered; of failing ones, which must cool down, as many as max.
        const remembered = nonsense.filter((key) => cache.inspect(key) !== undefined);
        expect(remembered).toEqual(nonsense.slice(what === 'absent' ? -10 : -100));
        for (const key of remembered) await rejectionOf(cache.get(key));
        expect(asked.length).toBe(4100);
        await rejectionOf(cache.get('x0'));
        expect([asked.at(-1), asked.length, clock.timerCount]).toEqual(['x0', 4101, 0]);
      });
    }
  }
});
