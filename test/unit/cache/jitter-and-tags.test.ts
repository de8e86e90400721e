import { describe, expect, it, vi } from 'vitest';
import { Epochs } from '../../../src/cache/epochs.ts';
import { dailyAt } from '../../../src/calendar/index.ts';
import {
  absent,
  type CacheOptions,
  type Execution,
  fixedRate,
  type KeyedLoadReturn,
  keep,
  loaded,
  RefreshingCache,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { seeded } from '../../support/distribution.ts';
import { recordLines } from '../../support/events.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { settled, thrownBy } from '../../support/settle.ts';

const PERIOD = 1_000_000;

type Options<V> = Partial<CacheOptions<number, V>>;

/** Loads that many keys together, and says how many are loaded by one read of each at each tenth of a period. */
async function tenths(
  count: number,
  options: Options<number>,
  {
    loads = 20,
    during = () => {},
  }: { loads?: number; during?: (clock: FakeClock, tenth: number) => unknown } = {},
): Promise<number[]> {
  const clock = new FakeClock({ now: '2026-06-01T05:00:00Z' });
  const keys = Array.from({ length: count }, (_, index) => index);
  let loadCount = 0;
  const { cache } = fakeCache<number, number>({
    load: async (key) => {
      loadCount += 1;
      return key;
    },
    ...{ concurrency: Infinity, schedule: PERIOD, max: count, clock, random: seeded() },
    ...options,
  });
  await cache.getMany(keys);
  const counts: number[] = [];
  for (let tenth = 1; tenth <= loads; tenth++) {
    const before = loadCount;
    await clock.advance(PERIOD / 10);
    await during(clock, tenth);
    for (const key of keys) cache.current(key);
    await clock.flush();
    counts.push(loadCount - before);
  }
  return counts;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('keys that were loaded together', () => {
  it('10,000 fall due within their period with at most 15 % of them in a tenth of it, and stay so', async () => {
    const counts = await tenths(10_000, {}, { loads: 40 });
    expect([counts[0], sum(counts.slice(0, 10))]).toEqual([0, 10_000]);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1500);
    expect(sum(counts)).toBeLessThanOrEqual(40_000);
  });

  it('none is due later than its schedule returns, and each follows it from its second load on', async () => {
    const clock = new FakeClock();
    const load = (key: number): number => key;
    const cache = new RefreshingCache({ name: 'c', load, schedule: '10m', clock, random: seeded() });
    const waits = (): number[] =>
      Array.from({ length: 1000 }, (_, key) => {
        const { nextExecuteTime = Number.NaN, loadedAt = Number.NaN } = cache.inspect(key) ?? {};
        return (nextExecuteTime - loadedAt) / 60_000;
      });
    for (let key = 0; key < 1000; key++) cache.current(key);
    const first = waits();
    expect([Math.floor(Math.min(...first)), Math.ceil(Math.max(...first))]).toEqual([1, 10]);
    for (let second = 0; second < 600; second++) {
      await clock.advance(1000);
      for (let key = 0; key < 1000; key++) cache.current(key);
    }
    await clock.flush();
    expect(waits()).toEqual(Array(1000).fill(10));
  });

  it('are spread anew after a load that came late: no read came before', async () => {
    const pause = (clock: FakeClock, tenth: number): unknown => tenth === 21 && clock.advance(5 * PERIOD);
    const counts = await tenths(1000, {}, { loads: 31, during: pause });
    expect(counts[20]).toBe(1000);
    expect(Math.max(...counts.slice(21))).toBeLessThan(200);
  });

  it('are due together with a jitter of 0', async () => {
    const counts = await tenths(100, { schedule: withJitter(PERIOD, 0) }, { loads: 10 });
    expect(counts).toEqual([...Array(9).fill(0), 100]);
  });

  it('are spread over the duration, or the share of the period, that withJitter gives', async () => {
    for (const jitter of [PERIOD / 2, { ratio: 0.5 }]) {
      const counts = await tenths(1000, { schedule: withJitter(PERIOD, jitter) });
      expect([sum(counts.slice(0, 9)), sum(counts.slice(0, 15))]).toEqual([0, 1000]);
      expect(Math.max(...counts)).toBeLessThan(300);
    }
  });

  it('of a calendar schedule are due at most a tenth of the time later', () => {
    const clock = new FakeClock({ now: '2026-06-01T05:00:00Z' });
    const schedule = dailyAt('05:00', { zone: 'UTC' });
    const load = (key: number): number => key;
    const { cache } = fakeCache({ load, schedule, clock, random: seeded() });
    const day = 86_400_000;
    const late = Array.from({ length: 1000 }, (_, key) => {
      cache.current(key);
      return ((cache.inspect(key)?.nextExecuteTime ?? Number.NaN) - clock.now() - day) / day;
    });
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThanOrEqual(0.1);
    expect(late.filter((share) => share < 0.05).length).toBeGreaterThan(400);
    expect(late.filter((share) => share >= 0.05).length).toBeGreaterThan(400);
  });

  const limits: [string, Options<number>][] = [
    ['hardly longer than the period', { maxStaleness: 1.01 * PERIOD }],
    ['of one and a half periods', { maxStaleness: 1.5 * PERIOD }],
    ['far shorter than a fixed rate', { maxStaleness: PERIOD / 10, schedule: fixedRate(PERIOD) }],
    [
      'far shorter than a calendar schedule',
      { maxStaleness: PERIOD, schedule: dailyAt('05:00', { zone: 'UTC' }) },
    ],
  ];
  for (const [what, options] of limits) {
    it(`are spread also with a maxStaleness ${what}, and due within it`, () => {
      const clock = new FakeClock({ now: '2026-06-01T05:00:00Z' });
      const shared = { name: 'c', load: (key: number) => key, schedule: PERIOD, clock, random: seeded() };
      const cache = new RefreshingCache<number, number>({ ...shared, ...options });
      const limit = Number(options.maxStaleness);
      const due = Array.from({ length: 1000 }, (_, key) => {
        cache.current(key);
        return (cache.inspect(key)?.nextExecuteTime ?? Number.NaN) - clock.now();
      });
      expect(Math.max(...due)).toBeLessThanOrEqual(limit);
      const tenthsOfLimit = due.map((wait) => Math.min(9, Math.floor((10 * wait) / limit)));
      const fullest = Math.max(
        ...Array.from({ length: 10 }, (_, i) => tenthsOfLimit.filter((t) => t === i).length),
      );
      // All are in the second half of the limit: a fifth of them in each of its tenths.
      expect(fullest).toBeLessThan(400);
    });
  }

  it('are spread also when the load itself sets maxStaleness', () => {
    const clock = new FakeClock();
    const load = (key: number): KeyedLoadReturn<number> => loaded(key, { maxStaleness: PERIOD });
    const shared = { name: 'c', load, schedule: PERIOD, clock, random: seeded() };
    const cache = new RefreshingCache<number, number>(shared);
    const due = Array.from({ length: 1000 }, (_, key) => {
      cache.current(key);
      return cache.inspect(key)?.nextExecuteTime;
    });
    expect(new Set(due).size).toBeGreaterThan(500);
  });

  it('have the age limit that their schedule gives', () => {
    for (const limit of [PERIOD / 2, undefined]) {
      const nextExecuteTime = ({ endedAt }: Execution): number => endedAt + PERIOD;
      const schedule = { nextExecuteTime, ...(limit === undefined ? {} : { maxStaleness: () => limit }) };
      const logger = recordLines();
      const options = { name: 'c', load: (key: number) => key, schedule, clock: new FakeClock(), logger };
      const cache = new RefreshingCache<number, number>(options);
      cache.current(1);
      expect(cache.inspect(1)?.maxStaleness).toBe(limit ?? Infinity);
      expect(logger.lines).toEqual([]);
    }
  });
});

describe('tags', () => {
  /** A cache whose loads return `tagged(key)`, with the number of calls so far. */
  function tagged(
    tagsOf: (key: number, call: number) => readonly string[] | undefined,
    options: Options<string> = {},
  ) {
    const loads: number[] = [];
    const load = async (key: number) => {
      loads.push(key);
      const tags = tagsOf(key, loads.filter((other) => other === key).length);
      return tags === undefined ? keep() : loaded(`${key}`, { tags });
    };
    const { clock, cache } = fakeCache<number, string>({ load, schedule: PERIOD, ...options });
    const stale = (): number[] => [...cache.keys()].filter((key) => cache.inspect(key)?.isStale);
    return { clock, loads, cache, stale };
  }

  it('invalidateTag makes the keys that bear the tag due, and no others', async () => {
    const { clock, loads, cache, stale } = tagged((key) => [key % 2 === 0 ? 'even' : 'odd', `k${key}`]);
    await cache.getMany([1, 2, 3, 4]);
    cache.invalidateTag('none');
    expect(stale()).toEqual([]);
    cache.invalidateTag('even');
    expect(stale()).toEqual([2, 4]);
    cache.invalidateTag('k3');
    for (const key of [1, 2, 3, 4]) expect(cache.current(key)).toBe(`${key}`); // served, reloaded behind
    await clock.flush();
    expect([loads.slice(4), stale()]).toEqual([[2, 3, 4], []]);
  });

  it('keep() keeps the tags, new ones replace them, set clears them', async () => {
    const answers = [['old'], undefined, ['new'], ['new']];
    const { cache, stale } = tagged((_, call) => answers[call - 1]);
    await cache.get(1);
    await cache.refresh(1);
    cache.invalidateTag('old');
    expect(stale()).toEqual([1]);
    await cache.refresh(1);
    cache.invalidateTag('old');
    expect(stale()).toEqual([]);
    cache.invalidateTag('new');
    expect(stale()).toEqual([1]);
    await cache.refresh(1);
    cache.set(1, 'hand');
    cache.invalidateTag('new');
    expect(stale()).toEqual([]);
  });

  it('a load without tags removes them', async () => {
    const { cache, stale } = tagged((_, call) => (call === 1 ? ['old'] : []), {
      load: (key, { previous }) => (previous === undefined ? loaded(`${key}`, { tags: ['old'] }) : `${key}`),
    });
    await cache.get(1);
    await cache.refresh(1);
    cache.invalidateTag('old');
    expect(stale()).toEqual([]);
  });

  it('invalidated between two tries of its load, a key is out of date when it has come', async () => {
    let tries = 0;
    const { clock, cache, stale } = tagged(() => [], {
      load: async (key) => {
        tries += 1;
        if (tries === 2) throw new Error('down');
        return loaded(`${key}`, { tags: ['t'] });
      },
      retry: { retries: 1, minTimeout: 100, factor: 1, randomize: false },
    });
    await cache.get(1);
    await clock.advance(2 * PERIOD);
    cache.current(1);
    await clock.flush();
    cache.invalidateTag('t');
    await clock.advance(100);
    expect([tries, stale()]).toEqual([3, [1]]);
  });

  const slow = () => {
    const manual = new ManualLoad<KeyedLoadReturn<string>>();
    return { manual, ...tagged(() => [], { load: (_, context) => manual.load(context) }) };
  };

  it('invalidated while it loads: who comes after gets the value of a load that began after', async () => {
    const { manual, cache, clock } = slow();
    const before = [cache.get(1), cache.refresh(1)];
    await clock.flush();
    cache.invalidateTag('t');
    const after = cache.get(1);
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    await clock.flush();
    expect(await settled(after)).toBe('pending');
    expect([manual.calls.length, manual.mostLive, manual.call(1).context.trigger]).toEqual([
      2,
      1,
      'invalidated',
    ]);
    manual.call(1).resolve(loaded('new', { tags: ['t'] }));
    expect(await Promise.all([...before, after])).toEqual(['old', 'old', 'new']);
    expect([cache.inspect(1)?.state, clock.timerCount]).toEqual(['fresh', 0]);
  });

  it('another tag invalidated while it loads: all get that load', async () => {
    const { manual, cache, clock } = slow();
    const read = cache.get(1);
    await clock.flush();
    cache.invalidateTag('other');
    const after = cache.get(1);
    manual.call(0).resolve(loaded('one', { tags: ['t'] }));
    expect([await read, await after, cache.inspect(1)?.state]).toEqual(['one', 'one', 'fresh']);
  });

  it('invalidated while it reloads behind readers: the next read reloads it again', async () => {
    const { manual, cache, clock } = slow();
    cache.set(1, 'held');
    await clock.advance(PERIOD);
    cache.current(1);
    await clock.flush();
    cache.invalidateTag('t');
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    await clock.flush();
    expect([cache.inspect(1)?.state, cache.current(1)]).toEqual(['stale', 'old']);
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
  });

  it('invalidated while it reloads, a key that bears it is not absent by a load that began before', async () => {
    const { manual, cache, clock } = slow();
    const first = cache.get(1);
    manual.call(0).resolve(loaded('one', { tags: ['t'] }));
    await first;
    const refresh = cache.refresh(1);
    refresh.catch(() => {});
    await clock.flush();
    cache.invalidateTag('t');
    cache.current(1); // served, the reload being under way
    manual.call(1).resolve(absent());
    await clock.flush();
    void cache.get(1).catch(() => {});
    await clock.flush();
    expect(manual.calls).toHaveLength(3);
  });

  it('are right also when more than 10,000 of them were invalidated', async () => {
    const { clock, cache, stale } = tagged((key) => [`k${key}`, 'all']);
    const keys = Array.from({ length: 50 }, (_, index) => index);
    await cache.getMany(keys);
    cache.invalidateTag('k7');
    for (let i = 0; i < 12_000; i++) cache.invalidateTag(`other${i}`);
    cache.invalidateTag('k9');
    expect(stale()).toEqual([7, 9]);
    for (const key of keys) cache.current(key);
    await clock.flush();
    expect(stale()).toEqual([]);
    for (let i = 0; i < 12_000; i++) cache.invalidateTag(`again${i}`);
    expect(stale()).toEqual([]);
    cache.invalidateTag('all');
    expect(stale()).toEqual(keys);
  });

  it('a load under way when 10,000 marks are forgotten still counts as begun before', async () => {
    const { manual, cache, clock } = slow();
    void cache.get(1);
    await clock.flush();
    cache.invalidateTag('t');
    const read = cache.get(1);
    for (let i = 0; i < 12_000; i++) cache.invalidateTag(`other${i}`);
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    await clock.flush();
    manual.call(1).resolve(loaded('new', { tags: ['t'] }));
    expect(await read).toBe('new');
  });

  it('no more than 10,000 marks are kept, and none beyond that but for loads under way', async () => {
    const markTag = vi.spyOn(Epochs.prototype, 'markTag');
    const { clock, cache } = fakeCache<number, number>({ load: () => Promise.reject(new Error('down')) });
    cache.set(1, 1);
    await clock.advance(2000);
    cache.current(1);
    await clock.flush(); // it has failed: its entry is active, without a load under way
    const tags = Array.from({ length: 25_000 }, (_, i) => `t${i}`);
    let most = 0;
    for (const [index, tag] of tags.entries()) {
      cache.invalidateTag(tag);
      if (index % 5000 > 1) continue;
      const [epochs] = markTag.mock.contexts as Epochs[];
      most = Math.max(most, tags.filter((one) => (epochs as Epochs).isOutdated(0, [one])).length);
    }
    markTag.mockRestore();
    // Counted after 1, 2, 5001, 5002, 10,001, 10,002 … of them: at the 10,001st all are forgotten, at the 20,002nd again.
    expect(most).toBe(10_000);
  });

  /** The cost of a call, the least of many, after more than 10,000 other tags were invalidated. */
  function cost(count: number, calls: number, hangs: boolean): number {
    const load = (key: number): KeyedLoadReturn<number> | Promise<number> =>
      key < 0 ? new Promise(() => {}) : loaded(key, { tags: ['all', `k${key % 10}`] });
    const cache = new RefreshingCache({ name: 'c', load, max: count + 1, clock: new FakeClock() });
    for (let key = 0; key < count; key++) cache.current(key);
    if (hangs) void cache.get(-1);
    for (let i = 0; i < 10_001; i++) cache.invalidateTag(`other${i}`);
    const times = Array.from({ length: calls }, (_, i) => {
      const from = performance.now();
      for (let j = 0; j < 5; j++) cache.invalidateTag(`new${i * 5 + j}`);
      cache.invalidateTag('all');
      return performance.now() - from;
    });
    expect(cache.inspect(0)?.isStale).toBe(true);
    return Math.min(...times);
  }

  it('invalidateTag costs the same with 100 and with 10,000 keys, also while a load hangs', () => {
    cost(100, 1001, false);
    expect(cost(10_000, 1001, false) / cost(100, 1001, false)).toBeLessThan(50); // key by key: 100 times as much
    expect(cost(10_000, 5, true) / cost(100, 5, true)).toBeLessThan(50);
  });
});

describe('invalidateWhere', () => {
  const make = () => {
    const load = async (key: string): Promise<string> => (key === 'slow' ? new Promise(() => {}) : key);
    const { cache } = fakeCache({ load });
    const stale = (): string[] => [...cache.keys()].filter((key) => cache.inspect(key)?.isStale);
    return { cache, stale };
  };

  it('marks the entries that the predicate picks, returns their number, and passes loading entries to it too', async () => {
    const { cache, stale } = make();
    await cache.getMany(['a', 'b', 'c']);
    void cache.get('slow').catch(() => {});
    const seen: [string, string | undefined][] = [];
    const count = cache.invalidateWhere((key, value) => seen.push([key, value]) > 0 && key !== 'b');
    expect(seen.toSorted()).toEqual([['a', 'a'], ['b', 'b'], ['c', 'c'], ['slow', undefined]]); // biome-ignore format: short
    expect([count, stale(), [...cache.keys()]]).toEqual([3, ['a', 'c'], ['a', 'b', 'c']]);
    expect(cache.invalidateWhere(() => false)).toBe(0);
  });

  it('passes absent keys to the predicate, and those that it picks are loaded again', async () => {
    const asked: string[] = [];
    const { cache } = fakeCache({ load: async (key) => (asked.push(key) > 0 ? absent() : key) });
    const read = (): Promise<unknown> => Promise.all(['a', 'b'].map((key) => cache.getIfPresent(key)));
    await read();
    await read();
    expect(asked).toEqual(['a', 'b']);
    expect(cache.invalidateWhere((key, value) => key === 'a' && value === undefined)).toBe(1);
    await read();
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('a predicate does not get entries that it has just removed, and gets those once that it has just begun to load', async () => {
    const { cache } = make();
    for (const key of ['a', 'b', 'c']) cache.set(key, key);
    const shown: string[] = [];
    const marked = cache.invalidateWhere((key) => {
      shown.push(key);
      if (key === 'a') {
        cache.delete('b');
        void cache.refresh('c');
      }
      return true;
    });
    expect([shown, marked]).toEqual([['a', 'c'], 2]);
  });

  it('a predicate that throws leaves all as it was', async () => {
    const { cache, stale } = make();
    await cache.getMany(['a', 'b', 'c']);
    const error = new Error('predicate');
    const predicate = (key: string): boolean => {
      if (key === 'c') throw error;
      return true;
    };
    expect(thrownBy(() => cache.invalidateWhere(predicate))).toBe(error);
    expect(stale()).toEqual([]);
  });
});
