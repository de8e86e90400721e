import { describe, expect, it } from 'vitest';
import { absent, isTicklessError, loaded, RefreshingCache } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Fault, ManualCluster } from '../../support/cluster.ts';
import { isOutcome, wordsOf } from '../../support/events.ts';
import { type KeyedInstance, keyedInstance, keyedPair, loadKey } from '../../support/keyed-cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** The key `x` has been pushed out by `y`, while its lease is being given back. */
async function pushedOut(
  fault: (release: Promise<void>) => Fault = (release) => release,
): Promise<{ cluster: ManualCluster; a: KeyedInstance; released: Deferred<void> }> {
  const cluster = new ManualCluster();
  const a = keyedInstance(cluster, { max: 1 });
  const released = new Deferred<void>();
  a.link.breakOnce(fault(released.promise), 'write');
  await loadKey(cluster, a, 'x', 'ex');
  await loadKey(cluster, a, 'y', 'why');
  return { cluster, a, released };
}

describe('keys behind a lock', () => {
  it('each key has a lock and a snapshot of its own, named after the cache and the key', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster);
    const b = keyedInstance(cluster);
    const reads = [a.cache.get('x'), b.cache.get('x'), b.cache.get('y')];
    await cluster.clock.flush();
    expect([a.calls.map(({ key }) => key), b.calls.map(({ key }) => key)]).toEqual([['x'], ['y']]);
    a.calls[0]?.resolve('ex');
    b.calls[0]?.resolve('why');
    await cluster.clock.advance(100);
    expect(await Promise.all(reads)).toEqual(['ex', 'ex', 'why']);
    expect((await cluster.lock.list()).map(({ name }) => name)).toEqual(['c["x"]', 'c["y"]']);
    expect((await cluster.store.read('c["x"]'))?.payload).toContain('ex');
    expect((await cluster.store.read('c["y"]'))?.payload).toContain('why');
  });

  it('one that is set while its first round is open has its place at once', async () => {
    const cluster = new ManualCluster();
    const { cache, link } = keyedInstance(cluster);
    link.break('no-answer', 'acquire');
    const read = cache.get('x');
    await cluster.clock.flush();
    cache.set('x', 'by hand', { here: true });
    expect([cache.size, [...cache.keys()], await read]).toEqual([1, ['x'], 'by hand']);
  });

  it('one that is pushed out while its lease is being given back does not come back with that', async () => {
    const { cluster, a, released } = await pushedOut();
    expect([a.cache.inspect('x')?.value, await a.cache.get('x')]).toEqual(['ex', 'ex']);
    expect([...a.cache.keys()]).toEqual(['y']);
    released.resolve();
    await cluster.clock.flush();
    expect([[...a.cache.keys()], a.cache.peek('x')]).toEqual([['y'], undefined]);
  });

  it('one that is pushed out while its lease is being given back, and then set, has a place again', async () => {
    const { cluster, a, released } = await pushedOut();
    a.cache.set('x', 'by hand', { here: true });
    released.resolve();
    await cluster.clock.flush();
    expect([[...a.cache.keys()], a.cache.peek('x')]).toEqual([['x'], 'by hand']);
  });

  it('one that is pushed out while its lease is being given back, invalidated and read is loaded again', async () => {
    const { cluster, a, released } = await pushedOut((release) => ({ arrives: release }));
    a.cache.invalidate('x', { here: true });
    const read = a.cache.get('x', { patience: Infinity });
    await cluster.clock.advance(100);
    released.resolve();
    await cluster.clock.advance(100);
    a.calls[2]?.resolve('ex 2');
    expect(await read).toBe('ex 2');
  });

  it('an acquire whose answer was lost is asked again with the same request, also after a load without it', async () => {
    const cluster = new ManualCluster({}, 30_000);
    const a = keyedInstance(cluster);
    await loadKey(cluster, a, 'x', 'ex');
    await cluster.clock.advance(1030);
    a.link.commands.length = 0;
    a.link.break('answer-lost', 'acquire');
    a.cache.current('x');
    await cluster.clock.flush();
    a.calls[1]?.resolve('ex 2');
    await cluster.clock.flush();
    a.link.mend();
    await cluster.clock.advance(3000);
    a.cache.current('x');
    await cluster.clock.flush();
    expect(a.calls).toHaveLength(3);
    const ids = a.link.requestIds();
    expect([ids.length > 1, new Set(ids).size]).toEqual([true, 1]);
  });

  it('without a store the version of each is the token with which it was loaded', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { store: undefined });
    await loadKey(cluster, a, 'x', 'ex');
    const [record] = await cluster.lock.list();
    expect(record?.token).toBeGreaterThan(0);
    expect(a.cache.inspect('x')?.lock?.version).toBe(record?.token);
  });

  it('close waits for the rounds of all of them', async () => {
    const cluster = new ManualCluster();
    const { cache, calls } = keyedInstance(cluster);
    const reads = [cache.get('x'), cache.get('y')];
    await cluster.clock.flush();
    const closing = cache.close({ timeout: 2000 });
    calls[0]?.resolve('ex');
    await cluster.clock.advance(500);
    expect(await settled(closing)).toBe('pending');
    calls[1]?.resolve('why');
    expect(await Promise.all(reads)).toEqual(['ex', 'why']);
    await cluster.clock.flush();
    expect(await settled(closing)).toEqual({ value: { drained: true, aborted: [], leases: [] } });
  });

  it('keys that look alike have different names', async () => {
    const cluster = new ManualCluster();
    const { lock } = cluster.link();
    const cache = new RefreshingCache<unknown, string>({
      name: 'c',
      load: async (key) => typeof key,
      clock: cluster.clock,
      lock,
    });
    for (const key of [1, '1', 1n, true, 'true', '"1"', 'a"]b["']) await cache.get(key);
    const names = (await cluster.lock.list()).map(({ name }) => name);
    expect(new Set(names).size).toBe(7);
  });

  it('a key that has no name fails, and says what to do', async () => {
    const cluster = new ManualCluster();
    const { lock } = cluster.link();
    const cache = new RefreshingCache<symbol, string>({
      name: 'c',
      load: async () => 'x',
      lock,
      logger: false,
    });
    const error = (await rejectionOf(cache.get(Symbol('s')))) as Error;
    expect(isTicklessError(error.cause, 'OPTION')).toBe(true);
    expect(`${error.cause}`).toContain('keyOf');
    const named = new RefreshingCache<{ id: number }, string>({
      name: 'c',
      load: async () => 'x',
      keyOf: ({ id }) => id,
      lock,
    });
    expect(await named.get({ id: 1 })).toBe('x');
  });

  it('a key that was invalidated, and then pushed out, is forgotten here', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { max: 1 });
    await loadKey(cluster, a, 'x', 'ex');
    a.cache.invalidate('x', { here: true });
    await loadKey(cluster, a, 'y', 'why');
    expect([a.cache.inspect('x'), a.cache.inspect('y')?.value]).toEqual([undefined, 'why']);
  });

  it('a key that was deleted, whose load has failed since, and that was pushed out by other failures gets no older snapshot', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { max: 2, coolDown: 100 });
    await loadKey(cluster, a, 'x', 'of before');
    await cluster.clock.advance(10);
    a.cache.invalidate('x', { drop: true, here: true });
    for (const key of ['x', 'other', 'another']) {
      const failed = rejectionOf(a.cache.get(key));
      await cluster.clock.flush();
      a.calls.at(-1)?.reject(new Error('down'));
      await failed;
      await cluster.clock.flush();
    }
    expect(a.cache.inspect('x')).toBeUndefined();
    await cluster.clock.advance(1000);
    const read = a.cache.get('x');
    await cluster.clock.flush();
    a.calls.at(-1)?.resolve('new');
    expect(await read).toBe('new');
  });

  it('tags and age limits travel', async () => {
    const { cluster, a, b } = keyedPair();
    await loadKey(cluster, a, 'x', loaded('ex', { tags: ['red'], maxStaleness: 5000 }));
    expect(await b.cache.get('x')).toBe('ex');
    expect(b.cache.inspect('x')?.maxStaleness).toBe(5000);
    b.cache.invalidateTag('blue', { here: true });
    expect(b.cache.inspect('x')?.isDue).toBe(false);
    b.cache.invalidateTag('red', { here: true });
    expect(b.cache.inspect('x')?.isDue).toBe(true);
  });

  it('absent travels, for as long as it was to hold', async () => {
    const { cluster, a, b } = keyedPair({ absentFor: 5000 });
    await loadKey(cluster, a, 'nope', absent());
    await cluster.clock.advance(2000);
    const error = await rejectionOf(b.cache.get('nope'));
    expect(isTicklessError(error, 'ABSENT') && error.retryAt).toBe(cluster.clock.now() + 3025);
    expect(b.events.find(isOutcome('adopted'))).toMatchObject({ isAbsent: true });
    expect(b.calls).toHaveLength(0);
    expect(b.link.take()).toEqual(['read', 'read']); // the marks of the cache, once, and the key
    await rejectionOf(b.cache.get('nope'));
    expect(b.link.take()).toEqual([]);
    await cluster.clock.advance(3025);
    void b.cache.get('nope');
    await cluster.clock.flush();
    expect(b.calls).toHaveLength(1);
  });

  it('absent of long ago is not served: the source is asked', async () => {
    const { cluster, a, b } = keyedPair({ absentFor: 5000 });
    await loadKey(cluster, a, 'x', absent());
    await cluster.clock.advance({ hours: 1 });
    const read = b.cache.get('x');
    await cluster.clock.flush();
    b.calls[0]?.resolve('ex');
    expect(await read).toBe('ex');
  });

  it('the version survives sleep, so that what is held is not read again', async () => {
    const { cluster, a, b } = keyedPair();
    await loadKey(cluster, a, 'x', 'ex');
    await b.cache.get('x');
    const { version } = (await cluster.store.read('c["x"]'))!;
    expect(b.cache.inspect('x')?.lock?.version).toBe(version);
    await cluster.clock.advance(1030);
    b.link.take();
    const refreshed = b.cache.refresh('x', { here: true });
    await cluster.clock.flush();
    b.calls[0]?.resolve('ex 2');
    await refreshed;
    await cluster.clock.flush();
    a.link.take();
    a.cache.current('x');
    await cluster.clock.flush();
    expect(a.link.commands.at(-1)).toMatchObject({ step: 'acquire', args: [{}, version] });
    expect(a.cache.peek('x')).toBe('ex 2');
    expect(a.calls).toHaveLength(1);
  });

  it('a value set by hand stays one over sleep: no older snapshot takes its place', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [keyedInstance(cluster, { schedule: { hours: 1 } }), keyedInstance(cluster)];
    await loadKey(cluster, a, 'x', 'ex');
    await b.cache.get('x');
    await cluster.clock.advance(10);
    b.cache.set('x', 'by hand', { here: true });
    expect(b.cache.inspect('x')?.lock?.version).toBeUndefined();
    await cluster.clock.advance(1030);
    b.cache.current('x');
    await cluster.clock.flush();
    expect(wordsOf(b.events)).toContain('done');
    expect(b.cache.peek('x')).toBe('by hand');
  });

  it('one that stands by does not ask again at each read, and adopts with the first look', async () => {
    const { cluster, a, b } = keyedPair();
    await loadKey(cluster, a, 'x', 'ex');
    await b.cache.get('x');
    await cluster.clock.advance(1030);
    a.cache.current('x');
    await cluster.clock.flush();
    b.link.take();
    for (let read = 0; read < 20; read++) {
      b.cache.current('x');
      await cluster.clock.advance(10);
    }
    expect(b.link.take()).toEqual(['acquire']);
    a.calls[1]?.resolve('ex 2');
    await cluster.clock.advance(100);
    b.cache.current('x');
    await cluster.clock.flush();
    expect(b.link.take()).toEqual(['acquire']);
    expect(b.cache.peek('x')).toBe('ex 2');
  });

  it('a key that is pushed out while it loads gives its lease back', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { max: 1 });
    const read = a.cache.get('x');
    await cluster.clock.flush();
    a.cache.set('y', 'why', { here: true });
    a.cache.set('z', 'zed', { here: true });
    a.calls[0]?.resolve('ex');
    expect(await read).toBe('ex');
    await cluster.clock.flush();
    expect((await cluster.lock.inspect('c["x"]'))?.state).toBe('done');
    expect(a.cache.size).toBe(1);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('one that was pushed out comes back from the store', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster, { max: 1 });
    await loadKey(cluster, a, 'x', 'ex');
    await loadKey(cluster, a, 'y', 'why');
    expect(a.cache.peek('x')).toBeUndefined();
    a.link.take();
    expect(await a.cache.get('x')).toBe('ex');
    expect(a.link.take()).toEqual(['read']);
    expect(a.calls).toHaveLength(2);
  });
});
