import { describe, expect, it } from 'vitest';
import {
  ageHeaders,
  isTicklessError,
  RefreshingCache,
  RefreshingValue,
  refreshing,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { manualValue } from '../../support/manual-value.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf } from '../../support/settle.ts';

const common = { logger: false, retry: false } as const;

describe('read() of a value', () => {
  it('tells the value, its age, state and due time of one instant', async () => {
    const clock = new FakeClock();
    let loads = 0;
    const load = (): string => `load ${++loads}`;
    const value = new RefreshingValue({ ...common, name: 'v', load, clock, schedule: 1000 });
    const loadedAt = clock.now();
    const about = { loadedAt, nextExecuteTime: loadedAt + 1000, maxStaleness: Infinity, failures: 0 };
    expect(await value.read()).toEqual({
      ...about,
      value: 'load 1',
      state: 'fresh',
      isStale: false,
      age: 0,
      lastError: undefined,
      version: undefined,
    });
    await clock.advance(1500);
    const stale = await value.read();
    expect(stale).toMatchObject({ ...about, value: 'load 1', state: 'stale', isStale: true, age: 1500 });
    expect(ageHeaders(stale)).toEqual({ Age: '1', 'Cache-Status': 'tickless; hit; ttl=0' });
    expect(JSON.parse(JSON.stringify(stale))).toMatchObject({ maxStaleness: 'Infinity', value: 'load 1' });
    await clock.flush();
    expect(await value.read()).toMatchObject({ value: 'load 2', age: 0, state: 'fresh' });
    expect(value.stats()).toMatchObject({ reads: 3, misses: 1, servedStale: 1 });
  });

  it('has the rules of get: it waits, rejects, and takes the same options', async () => {
    const { clock, manual, value } = manualValue();
    const failed = rejectionOf(value.read());
    manual.call(0).reject(new Error('down'));
    expect(isTicklessError(await failed, 'LOAD_FAILED')).toBe(true);
    await clock.advance(5000);
    const read = value.read();
    manual.call(1).resolve('one');
    expect(await read).toMatchObject({ value: 'one', age: 0 });
    await clock.advance(400);
    const young = value.read({ maxStaleness: 100 });
    manual.call(2).resolve('two');
    expect(await young).toMatchObject({ value: 'two', age: 0 });
    expect(await rejectionOf(value.read({ patience: -1 }))).toMatchObject(ofOption('patience'));
    void value.read({ maxStaleness: -1 }); // a dropped promise ends no process
  });

  it('of a value that is dropped in the moment in which it comes waits for the next one', async () => {
    const { clock, manual, value } = manualValue();
    const off = value.on('load-succeeded', () => {
      off();
      value.invalidate({ drop: true });
    });
    const read = value.read();
    manual.call(0).resolve('one');
    await clock.flush();
    manual.call(1).resolve('two');
    expect(await read).toMatchObject({ value: 'two', age: 0 });
  });

  it('has the version that others find it under', async () => {
    const cluster = new ManualCluster();
    const { value } = cluster.instance({ load: async () => 'one' });
    await value.refresh();
    const { version } = await value.read();
    expect(version).toBe(value.inspect().lock?.version);
    expect(version).toBeGreaterThan(0);
  });
});

describe('read() of a key', () => {
  it('has an age for each of 100 concurrent reads of 10 keys, of which two are kept', async () => {
    const clock = new FakeClock();
    let loads = 0;
    const load = async (key: number): Promise<string> => `${key} by load ${++loads}`;
    const cache = new RefreshingCache({ ...common, name: 'c', load, clock, max: 2 });
    const keys = Array.from({ length: 100 }, (_, index) => index % 10);
    const results = await Promise.all(keys.map((key) => cache.read(key)));
    expect(cache.size).toBe(2);
    expect(results.filter(({ age, loadedAt }) => age === 0 && loadedAt === clock.now())).toHaveLength(100);
    expect(results.map(({ value }) => Number(value[0]))).toEqual(keys);
  });

  it('counts as used, and rejects for an absent key', async () => {
    const clock = new FakeClock();
    const loadMany = (keys: readonly string[]) =>
      new Map(keys.filter((key) => key !== 'x').map((key) => [key, key]));
    const cache = new RefreshingCache({ ...common, name: 'c', loadMany, clock, max: 2 });
    await cache.getMany(['a', 'b']);
    await clock.advance(50);
    expect(await cache.read('a')).toMatchObject({ value: 'a', age: 50, state: 'fresh' });
    await cache.get('c');
    expect([...cache.keys()].sort()).toEqual(['a', 'c']);
    expect(isTicklessError(await rejectionOf(cache.read('x')), 'ABSENT')).toBe(true);
    expect(await rejectionOf(cache.read(undefined as never))).toMatchObject(ofOption('key'));
  });

  it('is there for functions too', async () => {
    const city = refreshing(async (code: string) => `City of ${code}`, { logger: false });
    expect(await city.read('1012')).toMatchObject({ value: 'City of 1012', isStale: false });
  });
});
