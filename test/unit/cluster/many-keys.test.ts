import { describe, expect, it } from 'vitest';
import { absent, RefreshingCache } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance, loadKey } from '../../support/keyed-cluster.ts';

describe('many keys of a cluster', () => {
  it('come in one call of loadMany where there is a store alone', async () => {
    const cluster = new ManualCluster();
    const calls: number[] = [];
    const cache = new RefreshingCache({
      name: 'c',
      loadMany: async (keys: readonly number[]) => {
        calls.push(keys.length);
        return new Map(keys.map((key) => [key, key]));
      },
      backend: { store: cluster.store },
      clock: cluster.clock,
    });
    const found = cache.getMany([1, 2, 3, 4, 5]);
    await cluster.clock.advance(10);
    await found;
    expect(calls).toEqual([5]);
  });

  it('in an outage one key probes the lock, and no reader waits for the probe', async () => {
    const cluster = new ManualCluster();
    const { cache, calls, link } = keyedInstance(cluster, { schedule: { hours: 1 } });
    link.break('refused', 'acquire');
    const first = cache.get('first');
    await cluster.clock.flush();
    calls[0]?.resolve('1');
    await first;
    await cluster.clock.advance(1000);
    link.take();
    link.break('no-answer', 'acquire');
    const reads = ['a', 'b', 'c', 'd'].map((key) => cache.get(key).catch(() => {}));
    await cluster.clock.flush();
    expect(link.take().filter((step) => step === 'acquire')).toHaveLength(1);
    expect(calls).toHaveLength(5);
    await cluster.clock.advance(15_000);
    expect(link.take()).not.toContain('acquire');
    for (const call of calls) call.resolve('x');
    await Promise.all(reads);
  });

  it('a key that was deleted is not revived from the store, however many were', async () => {
    const cluster = new ManualCluster();
    const instance = keyedInstance(cluster, { max: 3, schedule: { hours: 1 } });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const key of keys) await loadKey(cluster, instance, key, 'old');
    await cluster.clock.advance(10);
    for (const key of keys) instance.cache.delete(key);
    for (const key of keys) {
      const read = instance.cache.get(key);
      await cluster.clock.flush();
      instance.calls.at(-1)?.resolve('new');
      expect(await read).toBe('new');
      await cluster.clock.flush();
    }
  });

  it('a cool-down outlives invalidations of keys that nobody knows', async () => {
    const cluster = new ManualCluster();
    const instance = keyedInstance(cluster, { max: 3, coolDown: 60_000 });
    const read = instance.cache.get('failing').catch(() => {});
    await cluster.clock.flush();
    instance.calls[0]?.reject(new Error('down'));
    await read;
    for (let key = 0; key < 20; key++) instance.cache.invalidate(`nonsense ${key}`);
    await instance.cache.get('failing').catch(() => {});
    await cluster.clock.flush();
    expect(instance.calls).toHaveLength(1);
  });

  it('what was absent elsewhere is as old as it is', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { absentFor: 60_000 });
    await loadKey(cluster, a, 'nope', absent());
    const stored = await cluster.store.read('c["nope"]');
    expect(JSON.parse(stored?.payload.split('\n')[0] ?? '')).toMatchObject({ isAbsent: true, age: 0 });
  });
});
