import { describe, expect, it } from 'vitest';
import { absent, loaded } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { type KeyedInstance, keyedInstance, keyedPair, loadKey } from '../../support/keyed-cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('invalidation among instances', () => {
  it('a snapshot that another instance was loading when the tag was invalidated here is no answer', async () => {
    const { cluster, a, b } = keyedPair();
    await loadKey(cluster, a, 'x', loaded('ex', { tags: ['red'] }));
    await b.cache.get('x');
    await cluster.clock.advance(1030);
    a.cache.current('x');
    await cluster.clock.flush();
    const waiting = b.cache.get('x', { patience: 5000 });
    await cluster.clock.advance(100);
    b.cache.invalidateTag('red', { here: true });
    const after = b.cache.get('x', { patience: 5000 });
    a.calls[1]?.resolve(loaded('begun before', { tags: ['red'] }));
    await cluster.clock.advance(1000);
    expect([await waiting, await settled(after)]).toEqual(['begun before', 'pending']);
    b.calls[0]?.resolve(loaded('begun after', { tags: ['red'] }));
    await cluster.clock.flush();
    expect(await after).toBe('begun after');
  });

  it('a snapshot is no answer to an invalidation while a first read asks for the marks', async () => {
    const cluster = new ManualCluster();
    const options = { schedule: { hours: 1 }, propagateWithin: 500 };
    const [a, b] = [keyedInstance(cluster, options), keyedInstance(cluster, options)];
    await loadKey(cluster, a, 'x', 'ex');
    const waiting = b.cache.get('x');
    await Promise.resolve();
    b.cache.invalidate('x', { here: true });
    await cluster.clock.advance(10);
    expect(await waiting).toBe('ex');
    expect(b.cache.inspect('x')?.isDue).toBe(true);
  });

  it('a version that is adopted while an invalidation of its tag is being published is out of date', async () => {
    const cluster = new ManualCluster();
    const options = { schedule: { hours: 1 }, propagateWithin: 500 };
    const [a, b] = [keyedInstance(cluster, options), keyedInstance(cluster, options)];
    await loadKey(cluster, a, 'x', 'without a tag');
    await b.cache.get('x');
    const refreshed = a.cache.refresh('x');
    await cluster.clock.flush();
    a.calls[1]?.resolve(loaded('with a tag', { tags: ['red'] }));
    await cluster.clock.advance(10);
    await refreshed;
    const arrives = new Deferred<void>();
    b.link.breakOnce({ arrives: arrives.promise }, 'write');
    const invalidated = b.cache.invalidateTag('red');
    await b.cache.get('x');
    await cluster.clock.advance(600);
    await b.cache.get('x');
    await cluster.clock.advance(100);
    arrives.resolve();
    await cluster.clock.advance(100);
    await invalidated;
    expect(b.cache.inspect('x')?.isDue).toBe(true);
  });

  it('when all instances invalidate a tag, one of them loads for all', async () => {
    const cluster = new ManualCluster();
    const all = Array.from({ length: 4 }, () => keyedInstance(cluster, { schedule: { hours: 1 } }));
    const [a, ...others] = all as [(typeof all)[0], ...typeof all];
    await loadKey(cluster, a, 'x', loaded('ex', { tags: ['red'] }));
    for (const { cache } of others) await cache.get('x');
    await cluster.clock.advance(1000);
    for (const { cache } of all) cache.invalidateTag('red', { here: true });
    const reads = all.map(({ cache }) => cache.get('x', { patience: 10_000 }));
    await cluster.clock.flush();
    a.calls[1]?.resolve(loaded('ex 2', { tags: ['red'] }));
    await cluster.clock.advance(2000);
    expect(await Promise.all(reads)).toEqual(Array(4).fill('ex 2'));
    expect(all.map(({ calls }) => calls.length)).toEqual([2, 0, 0, 0]);
    for (const { cache } of all) expect(cache.inspect('x')?.isDue).toBe(false);
  });
});

describe('what was given up here is not revived from the store', () => {
  const ways: Record<string, (cache: KeyedInstance['cache']) => unknown> = {
    'invalidate with drop': (cache) => cache.invalidate('x', { drop: true, here: true }),
    delete: (cache) => cache.delete('x', { here: true }),
    clear: (cache) => cache.clear({ here: true }),
  };
  for (const [way, giveUp] of Object.entries(ways)) {
    it(`by ${way}`, async () => {
      const cluster = new ManualCluster();
      const a = keyedInstance(cluster);
      await loadKey(cluster, a, 'x', 'ex');
      await cluster.clock.advance(10);
      giveUp(a.cache);
      const read = a.cache.get('x');
      await cluster.clock.flush();
      expect(a.calls).toHaveLength(2);
      a.calls[1]?.resolve('ex 2');
      expect(await read).toBe('ex 2');
    });
  }

  it.each(Object.entries(ways))('by %s, while it asks for its lease', async (_, giveUp) => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster);
    await loadKey(cluster, a, 'x', 'ex');
    await cluster.clock.advance(1100);
    const asked = a.link.holdOnce('acquire');
    a.cache.current('x');
    await cluster.clock.flush();
    giveUp(a.cache);
    asked.resolve();
    await cluster.clock.flush();
    const read = a.cache.get('x');
    await cluster.clock.flush();
    expect(a.calls).toHaveLength(2);
    a.calls[1]?.resolve('ex 2');
    expect(await read).toBe('ex 2');
  });

  it.each(Object.entries(ways))(
    'by %s, while its lease is given back: its failures are known',
    async (_, giveUp) => {
      const cluster = new ManualCluster();
      const a = keyedInstance(cluster, { coolDown: { initial: 60_000, max: 60_000 } });
      await loadKey(cluster, a, 'x', 'ex');
      await cluster.clock.advance(1100);
      const released = a.link.holdOnce('release');
      a.cache.current('x');
      await cluster.clock.flush();
      a.calls[1]?.reject(new Error('down'));
      await cluster.clock.flush();
      giveUp(a.cache);
      expect(a.cache.inspect('x')?.failures).toBe(1);
      released.resolve();
      await cluster.clock.flush();
      expect(a.cache.inspect('x')?.failures).toBe(1);
      expect(await rejectionOf(a.cache.get('x'))).toMatchObject({ message: expect.stringContaining('down') });
      expect(a.calls).toHaveLength(2);
    },
  );

  const ofOthers: Record<string, (cache: KeyedInstance['cache']) => unknown> = {
    ...ways,
    'invalidate of the key': (cache) => cache.invalidate('x', { here: true }),
    'invalidate of all': (cache) => cache.invalidateWhere(() => true),
    invalidateTag: (cache) => cache.invalidateTag('red', { here: true }),
  };
  it.each(Object.entries(ofOthers))('by %s, while another instance loads it', async (_, giveUp) => {
    const { cluster, a, b } = keyedPair();
    const first = a.cache.get('x');
    await cluster.clock.advance(10);
    giveUp(b.cache);
    await cluster.clock.advance(10);
    a.calls[0]?.resolve('ex');
    await first;
    await cluster.clock.flush();
    const read = b.cache.get('x');
    await cluster.clock.flush();
    b.calls[0]?.resolve('ex 2');
    expect(await read).toBe('ex 2');
  });

  for (const [way, giveUp] of Object.entries(ofOthers)) {
    it(`by ${way}, of a key that was pushed out before`, async () => {
      const cluster = new ManualCluster();
      const a = keyedInstance(cluster, { max: 1 });
      await loadKey(cluster, a, 'x', loaded('ex', { tags: ['red'] }));
      await loadKey(cluster, a, 'y', 'why');
      expect(a.cache.peek('x')).toBeUndefined();
      await cluster.clock.advance(10);
      giveUp(a.cache);
      const read = a.cache.get('x');
      await cluster.clock.flush();
      expect(a.calls).toHaveLength(3);
      a.calls[2]?.resolve('ex 2');
      expect(await read).toBe('ex 2');
    });
  }

  it('what was loaded elsewhere since is taken', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [keyedInstance(cluster, { max: 1 }), keyedInstance(cluster)];
    await loadKey(cluster, a, 'x', 'ex');
    await loadKey(cluster, a, 'y', 'why');
    a.cache.invalidateWhere(() => true);
    await cluster.clock.advance(1030);
    await b.cache.get('x');
    await cluster.clock.flush();
    b.cache.current('x');
    await cluster.clock.flush();
    b.calls.at(-1)?.resolve('ex 2');
    await cluster.clock.flush();
    expect(await a.cache.get('x')).toBe('ex 2');
  });
});

describe('an absence that could not be published', () => {
  async function absentHere(): Promise<{ cluster: ManualCluster; a: KeyedInstance; b: KeyedInstance }> {
    const cluster = new ManualCluster();
    const own = { absentFor: 500 } as const;
    const [a, b] = [keyedInstance(cluster, own), keyedInstance(cluster, own)];
    await loadKey(cluster, b, 'x', 'older');
    await cluster.clock.advance(10);
    a.link.break('refused', 'read', 'acquire', 'write');
    await loadKey(cluster, a, 'x', absent());
    a.link.mend();
    return { cluster, a, b };
  }

  it('is not undone by an older snapshot', async () => {
    const { cluster, a } = await absentHere();
    await cluster.clock.advance(2000);
    await loadKey(cluster, a, 'y', 'behind this read the backend is found well');
    a.link.commands.length = 0;
    const read = a.cache.get('x');
    await cluster.clock.flush();
    const steps = a.link.commands.map(({ step, name }) => `${step} ${name}`);
    expect(steps).toEqual(['read c', 'read c["x"]', 'acquire c["x"]']);
    a.calls.at(-1)?.resolve('there again');
    expect(await read).toBe('there again');
  });

  it('but by a newer one', async () => {
    const { cluster, a, b } = await absentHere();
    await cluster.clock.advance(1900);
    b.cache.current('x');
    await cluster.clock.flush();
    b.calls[1]?.resolve('newer');
    await cluster.clock.advance(100);
    await loadKey(cluster, a, 'y', 'behind this read the backend is found well');
    expect([await a.cache.get('x'), a.calls.length]).toEqual(['newer', 2]);
  });
});
