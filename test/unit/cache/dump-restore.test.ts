import { describe, expect, it } from 'vitest';
import {
  absent,
  type CacheDump,
  type KeyedLoadReturn,
  loaded,
  type OptionError,
  RefreshGroup,
  RefreshingCache,
  type RefreshingCacheOptions,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordChanges } from '../../support/events.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

type Options = Partial<RefreshingCacheOptions<string, string>>;

const MINUTE = 60_000;

interface Made {
  readonly clock: FakeClock;
  readonly loads: string[];
  readonly cache: RefreshingCache<string, string>;
}

/** A process with a cache of a period of 10 minutes that tags each key with its first letter. */
function start(options: Options = {}, now?: number): Made {
  const clock = new FakeClock({ now });
  const loads: string[] = [];
  const cache = new RefreshingCache<string, string>({
    name: 'c',
    load: async (key): Promise<KeyedLoadReturn<string>> => {
      loads.push(key);
      return loaded(`v${key}`, { tags: [key.slice(0, 1)] });
    },
    schedule: 10 * MINUTE,
    jitter: false,
    clock,
    logger: false,
    ...options,
  });
  return { clock, loads, cache };
}

/** A dump after a pass through a file. */
const throughJson = <D>(dump: D): D => JSON.parse(JSON.stringify(dump)) as D;

/** A process that starts some time after another, with the dump of that one. */
function restart(before: Made, downtime: number, options: Options = {}): Made & { report: unknown } {
  const dump = throughJson(before.cache.dump());
  const made = start(options, before.clock.now() + downtime);
  return { ...made, report: made.cache.restore(dump) };
}

describe('a warm start', () => {
  it('has the values, ages, next execute times and the order of use again', async () => {
    const before = start({ max: 3 });
    await before.cache.get('a');
    await before.clock.advance(MINUTE);
    await before.cache.getMany(['b', 'c']);
    await before.clock.advance(MINUTE);
    before.cache.current('a');
    const due = before.cache.inspect('a')?.nextExecuteTime;
    const { clock, cache, loads, report } = restart(before, 0, { max: 3 });
    expect(report).toEqual({ restored: 3, dropped: 0 });
    expect([...cache.keys()]).toEqual(['b', 'c', 'a']);
    expect(cache.inspect('a')).toMatchObject({
      value: 'va',
      state: 'fresh',
      age: 2 * MINUTE,
      nextExecuteTime: due,
    });
    expect(cache.inspect('b')).toMatchObject({ age: MINUTE, loadedAt: clock.now() - MINUTE });
    expect([cache.current('a'), await cache.get('b')]).toEqual(['va', 'vb']);
    await clock.advance(8 * MINUTE);
    for (const key of ['a', 'b', 'c']) cache.current(key);
    await clock.flush();
    expect(loads).toEqual(['a']);
    cache.set('d', 'd');
    expect(cache.peek('b')).toBe('vb');
    expect([...cache.keys()]).toEqual(['b', 'c', 'd']);
    expect(clock.timerCount).toBe(0);
  });

  it('has the tags again, and the age limits that loads gave', async () => {
    const load = (key: string): KeyedLoadReturn<string> =>
      loaded(key, { tags: ['t'], maxStaleness: key === 'a' ? 30 * MINUTE : Number.POSITIVE_INFINITY });
    const before = start({ load, maxStaleness: 20 * MINUTE });
    before.cache.current('a');
    before.cache.current('b');
    const { cache } = restart(before, 25 * MINUTE, { maxStaleness: 20 * MINUTE });
    expect([cache.inspect('a')?.maxStaleness, cache.inspect('b')?.maxStaleness]).toEqual([
      30 * MINUTE,
      Infinity,
    ]);
    const fresh = restart(before, MINUTE, { maxStaleness: 20 * MINUTE });
    fresh.cache.invalidateTag('other');
    expect(fresh.cache.inspect('a')?.state).toBe('fresh');
    fresh.cache.invalidateTag('t');
    expect(fresh.cache.inspect('a')?.state).toBe('stale');
  });

  it('has the limits that a load gave its value, and values without one get the limit of the restoring cache', async () => {
    const load = (key: string) => (key === 'own' ? loaded(key, { maxStaleness: 5 * MINUTE }) : key);
    const before = start({ load, maxStaleness: 20 * MINUTE });
    await before.cache.getMany(['plain', 'own']);
    const nextExecuteTime = before.clock.now() + 10 * MINUTE;
    const soon = before.clock.now() + 5 * MINUTE;
    expect(before.cache.dump().entries).toStrictEqual([
      { key: 'plain', value: 'plain', age: 0, nextExecuteTime },
      { key: 'own', value: 'own', age: 0, nextExecuteTime: soon, maxStaleness: 5 * MINUTE },
    ]);
    const { cache } = restart(before, MINUTE, { maxStaleness: 15 * MINUTE });
    expect(['plain', 'own'].map((key) => cache.inspect(key)?.maxStaleness)).toEqual([
      15 * MINUTE,
      5 * MINUTE,
    ]);
  });

  it('counts the downtime as age: a value that is due by now is served, and the read reloads it', async () => {
    const before = start();
    await before.cache.get('a');
    const { clock, cache, loads } = restart(before, 15 * MINUTE);
    expect(cache.inspect('a')).toMatchObject({ state: 'stale', age: 15 * MINUTE });
    expect([cache.current('a'), loads]).toEqual(['va', []]);
    await clock.flush();
    expect([loads, cache.inspect('a')?.state, cache.inspect('a')?.age]).toEqual([['a'], 'fresh', 0]);
  });

  it('drops what is older than maxStaleness, and only that', async () => {
    const options = { maxStaleness: 20 * MINUTE };
    const before = start(options);
    await before.cache.get('a');
    await before.clock.advance(1);
    await before.cache.get('b');
    const { cache, report } = restart(before, 20 * MINUTE, options);
    expect(report).toEqual({ restored: 1, dropped: 1 });
    expect([[...cache.keys()], cache.inspect('b')?.age]).toEqual([['b'], 20 * MINUTE]);
  });

  it('an invalidated value is due again, one that is never due stays so, and JSON can express it', async () => {
    const before = start({ schedule: Number.POSITIVE_INFINITY });
    await before.cache.getMany(['a', 'b']);
    before.cache.invalidate('a');
    expect(before.cache.dump().entries).toMatchObject([
      { key: 'a', nextExecuteTime: before.clock.now() },
      { key: 'b', nextExecuteTime: null },
    ]);
    const { cache } = restart(before, MINUTE);
    expect([cache.inspect('a')?.isDue, cache.inspect('b')?.isDue]).toEqual([true, false]);
    expect(cache.inspect('b')?.nextExecuteTime).toBe(Number.POSITIVE_INFINITY);
  });

  it('invalidated by tag or all together, they are due again', async () => {
    for (const how of ['tag', 'all'] as const) {
      const before = start();
      await before.cache.getMany(['a', 'b']);
      if (how === 'tag') before.cache.invalidateTag('a');
      else before.cache.invalidate();
      const { cache } = restart(before, 0);
      expect([cache.inspect('a')?.isDue, cache.inspect('b')?.isDue]).toEqual([true, how === 'all']);
    }
  });

  it('a dump has no absent, failed or loading keys', async () => {
    const load = (key: string): KeyedLoadReturn<string> | Promise<string> => {
      if (key === 'slow') return new Promise(() => {});
      if (key === 'down') throw new Error('down');
      return key === 'absent' ? absent() : key;
    };
    const { cache } = start({ load });
    for (const key of ['slow', 'down', 'absent', 'a']) void cache.get(key).catch(() => {});
    expect(cache.dump()).toMatchObject({
      version: 1,
      name: 'c',
      entries: [{ key: 'a', value: 'a', age: 0 }],
    });
    expect(cache.dump().entries).toHaveLength(1);
  });
});

describe('a restore into a cache with entries', () => {
  it('never overwrites a younger value, and replaces an older one', async () => {
    const before = start();
    for (const key of ['a', 'b', 'c']) before.cache.set(key, 'dumped');
    await before.clock.advance(5 * MINUTE);
    const dump = throughJson(before.cache.dump());
    const { clock, cache } = start({}, before.clock.now() - MINUTE);
    cache.set('a', 'held'); // 1 minute old when the dump comes, which is of 5 minutes
    await clock.advance(MINUTE);
    expect(cache.restore(dump)).toEqual({ restored: 2, dropped: 1 });
    expect([cache.peek('a'), cache.peek('b'), cache.inspect('a')?.age]).toEqual(['held', 'dumped', MINUTE]);
    const older = start({}, before.clock.now() - 10 * MINUTE);
    older.cache.set('a', 'held');
    await older.clock.advance(10 * MINUTE);
    expect(older.cache.restore(dump)).toEqual({ restored: 3, dropped: 0 });
    expect(older.cache.inspect('a')).toMatchObject({ value: 'dumped', age: 5 * MINUTE });
  });

  it('its own dump changes nothing, nor does an older one after hours', async () => {
    const { clock, cache } = start({ schedule: 100 * MINUTE });
    await cache.get('a');
    await clock.advance(10 * MINUTE);
    const dump = cache.dump();
    expect(cache.restore(dump)).toEqual({ restored: 0, dropped: 1 });
    await clock.advance(50 * MINUTE);
    cache.set('a', 'younger');
    expect(cache.restore(dump)).toEqual({ restored: 0, dropped: 1 });
    expect(cache.peek('a')).toBe('younger');
  });

  it('a load under way goes on, and its value is the younger one', async () => {
    const manual = new ManualLoad<string>();
    const before = start();
    before.cache.set('a', 'dumped');
    const { cache } = start({ load: (_, context) => manual.load(context) });
    const read = cache.get('a');
    expect(cache.restore(before.cache.dump())).toEqual({ restored: 1, dropped: 0 });
    expect([cache.current('a'), await settled(read)]).toEqual(['dumped', 'pending']);
    manual.call(0).resolve('new');
    expect([await read, cache.current('a'), manual.calls.length]).toEqual(['new', 'new', 1]);
  });

  it('a clock that has gone back adds nothing to the age', async () => {
    const before = start();
    await before.cache.get('a');
    await before.clock.advance(MINUTE);
    const { cache, report } = restart(before, -60 * MINUTE);
    expect([report, cache.inspect('a')?.age]).toEqual([{ restored: 1, dropped: 0 }, MINUTE]);
  });

  it('a dump after a step of the wall clock has next execute times of the new clock', async () => {
    for (const step of [-60 * MINUTE, 60 * MINUTE]) {
      const before = start();
      await before.cache.get('a');
      before.clock.stepWall(step);
      const { at, entries } = before.cache.dump();
      expect((entries[0]?.nextExecuteTime ?? Number.NaN) - at).toBe(10 * MINUTE);
    }
  });

  it('a key that was absent is there again, and reloaded when it is due', async () => {
    let isAbsent = true;
    let calls = 0;
    const load = (key: string): KeyedLoadReturn<string> => {
      calls += 1;
      return isAbsent ? absent() : `${key}${calls}`;
    };
    const before = start();
    before.cache.set('a', 'dumped');
    const { clock, cache } = start({ load, absentFor: Number.POSITIVE_INFINITY }, before.clock.now());
    await rejectionOf(cache.get('a'));
    isAbsent = false;
    cache.restore(throughJson(before.cache.dump()));
    const restored = { value: 'dumped', state: 'fresh', failures: 0, lastError: undefined };
    expect(cache.inspect('a')).toMatchObject(restored);
    await clock.advance(10 * MINUTE);
    expect(cache.current('a')).toBe('dumped');
    await clock.flush();
    expect(cache.current('a')).toBe('a2');
  });

  it('the report counts the restored keys: a smaller cache holds the most recently used', async () => {
    const before = start();
    await before.cache.getMany(['a', 'b', 'c', 'd', 'e']);
    const { cache, report } = restart(before, 0, { max: 2 });
    expect([...cache.keys()]).toEqual(['d', 'e']);
    expect(report).toEqual({ restored: 2, dropped: 3 });
  });

  it('a value larger than maxSize is not counted as restored', async () => {
    const before = start();
    before.cache.set('a', 'x'.repeat(20));
    before.cache.set('b', 'y');
    const { cache, report } = restart(before, 0, { maxSize: 10, sizeOf: ({ length }) => length });
    expect([...cache.keys()]).toEqual(['b']);
    expect(report).toEqual({ restored: 1, dropped: 1 });
  });

  it('objects with keyOf are the same keys again', async () => {
    const make = () =>
      new RefreshingCache({
        name: 'c',
        load: async (key: { id: string }) => key.id,
        keyOf: ({ id }) => id,
        clock: new FakeClock(),
      });
    const before = make();
    await before.get({ id: 'a' });
    const cache = make();
    expect(cache.restore(throughJson(before.dump()))).toEqual({ restored: 1, dropped: 0 });
    expect([cache.current({ id: 'a' }), [...cache.keys()]]).toEqual(['a', [{ id: 'a' }]]);
  });
});

describe('an invalid dump', () => {
  const at = Date.UTC(2026, 0, 1);
  const good = { key: 'good', value: 'v', age: 0, nextExecuteTime: at };
  const whole = (entry: object): unknown => ({
    version: 1,
    name: 'c',
    at,
    entries: [good, { ...good, ...entry }],
  });
  const { key: _, ...keyless } = { ...good };
  const { value: __, ...valueless } = { ...good };
  const bad: [string, unknown][] = [
    ['null', null],
    ['undefined', undefined],
    ['an empty object', {}],
    ['a string', 'dump'],
    ['of another version', { version: 2, name: 'c', at, entries: [good] }],
    ['without entries', { version: 1, name: 'c', at }],
    ['of no time', { version: 1, name: 'c', at: Number.NaN, entries: [good] }],
    ['with an entry that is null', { version: 1, name: 'c', at, entries: [good, null] }],
    ['with an entry without a key', { version: 1, name: 'c', at, entries: [good, keyless] }],
    [
      'with an entry without a value',
      { version: 1, name: 'c', at, entries: [good, { ...valueless, key: 'b' }] },
    ],
    ['with a negative age', whole({ age: -1 })],
    ['with an age that is NaN', whole({ age: Number.NaN })],
    ['with an age that is a string', whole({ age: '5' })],
    ['with no next execute time', whole({ nextExecuteTime: undefined })],
    ['with a next execute time that is NaN', whole({ nextExecuteTime: Number.NaN })],
    ['with a maxStaleness that is negative', whole({ maxStaleness: -1 })],
    ['with a maxStaleness that is no number', whole({ maxStaleness: Object.create(null) })],
    ['with tags that are a string', whole({ tags: 'nl' })],
    ['with tags that are numbers', whole({ tags: [1] })],
    ['with a tag that is a number', whole({ tags: ['nl', 1] })],
    ['with a value whose size is none', whole({ value: 'bad size' })],
    ['with a value that is a promise', whole({ value: Promise.resolve('x') })],
  ];
  for (const [what, dump] of bad) {
    it(`${what} is rejected, and no entry is restored`, () => {
      const sizeOf = (value: string): number => (value === 'bad size' ? Number.NaN : 1);
      const { cache } = start({ maxSize: 10, sizeOf }, at);
      cache.set('held', 'held');
      const error = thrownBy(() => cache.restore(dump as CacheDump<string, string>));
      expect(error).toMatchObject({
        name: 'OptionError',
        cacheName: 'c',
        option: expect.stringMatching(/^dump/),
      });
      expect([...cache.keys()]).toEqual(['held']);
    });
  }

  it('is rejected with all its errors', () => {
    const { cache } = start({ maxSize: 10, sizeOf: () => Number.NaN }, at);
    const entry = { age: -1, nextExecuteTime: 'soon', maxStaleness: -1, tags: 'nl' };
    const dump = { version: 1, name: 'c', at, entries: [entry] } as never;
    const problems = (bad: never) => (thrownBy(() => cache.restore(bad)) as OptionError).problems;
    const told = (rule: string) => expect.stringContaining(rule);
    expect(problems(dump).map(({ option, rule }) => [option, rule])).toEqual([
      ['dump.entries[0].value', told('must be a value')],
      ['dump.entries[0].age', told('must be a finite number')],
      ['dump.entries[0].nextExecuteTime', told('must be epoch milliseconds')],
      ['dump.entries[0].maxStaleness', told('must be a number')],
      ['dump.entries[0].key', told('must be a key')],
      ['dump.entries[0].tags', told('must be an array of strings')],
      ['dump.entries[0].value', told('sizeOf must return')],
    ]);
    expect(problems({ version: 2 } as never)).toMatchObject([{ option: 'dump', rule: told('version 1') }]);
  });

  it.each<[string, unknown, (key: { id: string }) => string]>([
    ['that keyOf throws for', null, ({ id }) => id],
    ['that keyOf has no answer for', {}, ({ id }) => id],
    ['whose identity is none', { id: null }, ({ id }) => id],
    ['that is undefined', undefined, (key) => String(key?.id)],
  ])('with a key %s is rejected, and no entry is restored', (_, key, keyOf) => {
    const load = (own: { id: string }): string => own.id;
    const cache = new RefreshingCache({ name: 'c', load, keyOf, clock: new FakeClock() });
    const entries = [
      { ...good, key: { id: 'a' } },
      { ...good, key },
    ];
    const dump = { version: 1, name: 'c', at, entries } as never;
    expect(thrownBy(() => cache.restore(dump))).toMatchObject({ name: 'OptionError' });
    expect(cache.size).toBe(0);
  });
});

describe('a dump of more values than the cache may hold', () => {
  const now = Date.UTC(2026, 0, 1);

  /** A dump of `count` values with the keys '0', '1', …, of which it counts how many are looked at. */
  function large(count: number, age: (index: number) => number = () => 0) {
    const seen = new Set<string>();
    const entries = Array.from({ length: count }, (_, index) => ({
      get key() {
        seen.add(`${index}`);
        return `${index}`;
      },
      value: 'v',
      age: age(index),
      nextExecuteTime: null,
    }));
    return { seen, dump: { version: 1, name: 'c', at: now, entries } as CacheDump<string, string> };
  }

  it('is read from its end, as far as its values fit', () => {
    const { seen, dump } = large(100_000);
    const { cache } = start({ max: 10 }, now);
    expect(cache.restore(dump)).toEqual({ restored: 10, dropped: 99_990 });
    expect([...cache.keys()]).toEqual(Array.from({ length: 10 }, (_, index) => `${99_990 + index}`));
    expect(seen.size).toBe(10);
  });

  it('by size, too', () => {
    const { seen, dump } = large(1000);
    let sizes = 0;
    const sizeOf = (): number => {
      sizes += 1;
      return 3;
    };
    const { cache } = start({ maxSize: 10, sizeOf }, now);
    expect(cache.restore(dump)).toEqual({ restored: 3, dropped: 997 });
    expect([...cache.keys()]).toEqual(['997', '998', '999']);
    expect([seen.size, sizes]).toEqual([4, 4]);
  });

  it('values that are too old, and all but the youngest of a key, take no place', () => {
    const { dump } = large(8, (index) => (index >= 6 ? MINUTE : 0));
    const again = { key: '5', value: 'old', age: 1000, nextExecuteTime: null };
    const entries = [...dump.entries.slice(0, 6), again, ...dump.entries.slice(6)];
    const { cache } = start({ max: 2, maxStaleness: 1000, schedule: 999 }, now);
    expect(cache.restore({ ...dump, entries })).toEqual({ restored: 2, dropped: 7 });
    expect([...cache.keys()].map((key) => [key, cache.peek(key)])).toEqual([['4', 'v'], ['5', 'v']]); // biome-ignore format: short
  });

  it('with a million invalid entries is rejected before all are looked at', () => {
    const { seen, dump } = large(100_000, () => -1);
    const { cache } = start({}, now);
    expect(thrownBy(() => cache.restore(dump))).toMatchObject({ name: 'OptionError' });
    expect(seen.size).toBeLessThan(1000);
  });
});

describe('listeners and the group of a cache', () => {
  it('hear of each value that a restore has put into place, once', async () => {
    const before = start();
    await before.cache.getMany(['a', 'b']);
    await before.clock.advance(MINUTE);
    const { clock, cache } = start({}, before.clock.now());
    const changes = recordChanges(cache);
    cache.set('b', 'younger');
    cache.restore(before.cache.dump());
    expect(changes).toMatchObject([{ key: 'b', cause: 'set' }, { key: 'a', value: 'va', cause: 'restored', version: undefined }]); // biome-ignore format: short
    await clock.advance(2 * MINUTE);
    cache.restore(before.cache.dump());
    expect(changes).toHaveLength(2);
  });

  it('know that a required key has been restored', () => {
    const before = start();
    before.cache.set('a', 'dumped');
    const group = new RefreshGroup({ logger: false });
    const { cache } = start({ group, required: ['a'] }, before.clock.now());
    expect(group.health().ok).toBe(false);
    cache.restore(before.cache.dump());
    expect(group.health().ok).toBe(true);
  });
});
