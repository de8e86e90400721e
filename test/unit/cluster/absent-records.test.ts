import { describe, expect, it } from 'vitest';
import { absent, isTicklessError } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { type KeyedInstance, keyedInstance, loadKey } from '../../support/keyed-cluster.ts';

const ABSENT_FOR = 60_000;
/** What docs/cluster.md promises: ten minutes longer than the absence, and a minute of the memory adapters. */
const FORGOTTEN_AFTER = ABSENT_FOR + 11 * 60_000;

const names = async ({ lock }: ManualCluster): Promise<string[]> =>
  (await lock.list({ limit: 10_000 })).map(({ name }) => name);

const isStored = async ({ store }: ManualCluster, key: string): Promise<boolean> =>
  (await store.read(`c["${key}"]`)) !== undefined;

const cacheOf = (cluster: ManualCluster): KeyedInstance =>
  keyedInstance(cluster, { absentFor: ABSENT_FOR, schedule: 600_000 });

describe('the records of an absent key', () => {
  it('are gone some ten minutes after its absence, with the next write: of 1,000 nonsense keys none is left', async () => {
    const cluster = new ManualCluster();
    const { cache } = keyedInstance(cluster, {
      absentFor: ABSENT_FOR,
      schedule: 600_000,
      load: (key) => (key === 'real' ? 'value' : absent()),
    });
    const keys = Array.from({ length: 1000 }, (_, i) => `nonsense-${i}`);
    const reads = Promise.allSettled(['real', ...keys].map((key) => cache.get(key)));
    await cluster.clock.flush();
    expect((await reads).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await names(cluster)).toHaveLength(1001);
    await cluster.clock.advance(FORGOTTEN_AFTER);
    await cache.refresh('real', { here: true });
    await cluster.clock.flush();
    expect(await names(cluster)).toEqual(['c["real"]']);
    expect(await Promise.all(['real', ...keys].map((key) => isStored(cluster, key)))).toEqual([
      true,
      ...keys.map(() => false),
    ]);
  });

  it('are kept for as long as any once the source has the key', async () => {
    const cluster = new ManualCluster();
    const a = cacheOf(cluster);
    await loadKey(cluster, a, 'x', absent());
    await cluster.clock.advance(ABSENT_FOR);
    await loadKey(cluster, a, 'x', 'ex');
    await cluster.clock.advance(2 * FORGOTTEN_AFTER);
    await loadKey(cluster, a, 'y', 'why');
    expect([await names(cluster), await isStored(cluster, 'x')]).toEqual([['c["x"]', 'c["y"]'], true]);
  });

  it('do not go while a lease of it is held', async () => {
    const cluster = new ManualCluster({}, 3_600_000);
    const a = keyedInstance(cluster, { absentFor: ABSENT_FOR, schedule: 600_000, timeout: 3_600_000 });
    await loadKey(cluster, a, 'x', absent());
    await cluster.clock.advance(ABSENT_FOR);
    void a.cache.get('x').catch(() => {});
    await cluster.clock.advance(FORGOTTEN_AFTER);
    await loadKey(cluster, cacheOf(cluster), 'y', 'why');
    expect((await cluster.lock.inspect('c["x"]'))?.state).toBe('running');
  });

  it('tokens and versions grow when they were gone', async () => {
    const cluster = new ManualCluster();
    const a = cacheOf(cluster);
    const b = cacheOf(cluster);
    await loadKey(cluster, a, 'x', absent());
    const before = (await cluster.lock.inspect('c["x"]'))?.token as number;
    await cluster.clock.advance(FORGOTTEN_AFTER);
    await loadKey(cluster, b, 'y', 'why');
    expect(await cluster.lock.inspect('c["x"]')).toBeUndefined();
    await loadKey(cluster, b, 'x', 'ex');
    expect((await cluster.lock.inspect('c["x"]'))?.token).toBeGreaterThan(before);
    expect(await a.cache.get('x')).toBe('ex');
  });

  it('live as long as any where the key stays absent for ever', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { absentFor: Infinity });
    await loadKey(cluster, a, 'x', absent());
    await cluster.clock.advance(FORGOTTEN_AFTER);
    await loadKey(cluster, a, 'y', 'why');
    const other = cacheOf(cluster);
    expect(isTicklessError(await other.cache.get('x').catch((error: unknown) => error), 'ABSENT')).toBe(true);
    expect(other.calls).toEqual([]);
  });
});

describe('a round that finds a key absent', () => {
  it('is done until the absence is over: the others adopt it, and none of them loads', async () => {
    const cluster = new ManualCluster();
    const caches = Array.from({ length: 8 }, () => cacheOf(cluster));
    const reads = caches.map(({ cache }) =>
      cache.get('x').catch((error) => isTicklessError(error, 'ABSENT')),
    );
    await cluster.clock.flush();
    const calls = (): KeyedInstance['calls'] => caches.flatMap(({ calls }) => calls);
    expect(calls()).toHaveLength(1);
    calls()[0]?.resolve(absent());
    await cluster.clock.advance(1000);
    expect(await Promise.all(reads)).toEqual(caches.map(() => true));
    expect(calls()).toHaveLength(1);
  });

  it('ends the older value of an instance that loses each race, though the absence is over', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cacheOf(cluster), cacheOf(cluster)];
    await loadKey(cluster, a, 'x', 'ex');
    expect(await b.cache.get('x')).toBe('ex');
    for (let round = 1; round <= 3; round++) {
      await cluster.clock.advance(630_000); // the records are there for 30 s more
      for (const { cache } of [a, b]) void cache.get('x').catch(() => {});
      await cluster.clock.flush();
      for (const { calls } of [a, b]) for (const call of calls.splice(0)) call.resolve(absent());
      await cluster.clock.flush();
    }
    expect(b.cache.peek('x')).toBeUndefined();
  });
});
