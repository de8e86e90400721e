import { describe, expect, it } from 'vitest';
import { absent, RefreshingCache } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance, loadKey } from '../../support/keyed-cluster.ts';

describe('many keys of a cluster', () => {
  it('come in one call of loadMany', async () => {
    const cluster = new ManualCluster();
    const calls: number[] = [];
    const cache = new RefreshingCache({
      name: 'c',
      loadMany: async (keys: readonly number[]) => {
        calls.push(keys.length);
        return new Map(keys.map((key) => [key, key]));
      },
      backend: cluster.link().backend,
      clock: cluster.clock,
    });
    const found = cache.getMany([1, 2, 3, 4, 5]);
    await cluster.clock.advance(10);
    await found;
    expect(calls).toEqual([5]);
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
