import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { loaded, PeriodicExecutor, RefreshingValue } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance, loadKey } from '../../support/keyed-cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('rule 8 in a cluster: between executions there is no timer', () => {
  it('however a round ends', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const [a, b] = await cluster.warm(2);
    expect(clock.timerCount).toBe(0);
    await clock.advance(1030);
    a.value.current;
    await clock.flush();
    expect(clock.timerCount).toBe(2); // the deadline, and the renewal
    b.value.current; // stands by
    await clock.flush();
    expect(clock.timerCount).toBe(2);
    a.manual.call(1).reject(new Error('down'));
    await clock.flush();
    expect(clock.timerCount).toBe(0);

    void a.value.refresh({ here: true });
    await clock.flush();
    a.value.set('by hand', { here: true });
    a.manual.call(2).resolve('late');
    await clock.flush();
    expect(clock.timerCount).toBe(0);

    const lost = rejectionOf(a.value.refresh({ here: true }));
    await clock.flush();
    await cluster.lock.forceRelease('v', a.manual.call(3).context.token as number);
    await clock.advance(1000);
    await lost;
    expect(clock.timerCount).toBe(0);
    a.manual.call(3).resolve('late');
    await clock.flush();
    expect(clock.timerCount).toBe(0);
  });

  it('of keys and tasks neither', async () => {
    const cluster = new ManualCluster();
    const keyed = keyedInstance(cluster);
    for (const key of ['x', 'y', 'z']) await loadKey(cluster, keyed, key, key);
    const executor = new PeriodicExecutor(async () => {}, {
      name: 't',
      clock: cluster.clock,
      lock: cluster.lock,
    });
    await executor.requestStart();
    await cluster.clock.flush();
    expect(cluster.clock.timerCount).toBe(0);
  });
});

describe('rule 10 in a cluster: the context of the reader stays out', () => {
  it('clients of the lock and the store do not see its AsyncLocalStorage, nor does the codec', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: [string, string | undefined][] = [];
    const note = (what: string): void => void seen.push([what, storage.getStore()]);
    const codec = {
      encode: (value: unknown) => {
        note('encode');
        return String(value);
      },
      decode: (text: unknown) => {
        note('decode');
        return text;
      },
    };
    const cluster = new ManualCluster({ codec });
    const link = cluster.link();
    link.fault = (step) => {
      note(step);
      return undefined;
    };
    const options = {
      name: 'v',
      load: async () => 'one',
      schedule: 1000,
      clock: cluster.clock,
      backend: { lock: link.lock, store: link.store },
      propagateWithin: 500,
    };
    const made = storage.run('constructor', () => [
      new RefreshingValue(options),
      new RefreshingValue(options),
    ]);
    for (const [index, value] of made.entries()) {
      await storage.run(`first reader of ${index}`, () => value.get());
      await storage.run('flush', () => cluster.clock.flush());
    }
    await cluster.clock.advance(1030);
    for (const value of made) {
      storage.run('due reader', () => value.current);
      await cluster.clock.advance(300);
    }
    await storage.run('engine', () => made[0]?.refresh());
    storage.run('setter', () => made[1]?.set('by hand'));
    await storage.run('closer', () => made[0]?.close());
    const steps = new Set(seen.map(([what]) => what));
    expect(steps).toEqual(new Set(['read', 'acquire', 'encode', 'write', 'confirm', 'decode', 'check']));
    expect(seen.filter(([, store]) => store !== undefined)).toEqual([]);
  });
});

describe('waitUntil', () => {
  it('is given a promise that covers publishing and giving the lease back', async () => {
    const cluster = new ManualCluster();
    const promises: Promise<unknown>[] = [];
    const [a] = await cluster.warm(1, { waitUntil: (promise) => void promises.push(promise) });
    promises.length = 0;
    await cluster.readAfter(1030, a);
    const answered = a.link.hold('write');
    await cluster.end(a, 1, 'two');
    expect(a.value.peek()).toBe('two');
    expect(promises).toHaveLength(1);
    expect(await settled(promises[0] as Promise<unknown>)).toBe('pending');
    answered.resolve();
    await cluster.clock.flush();
    expect(await settled(promises[0] as Promise<unknown>)).toEqual({ value: undefined });
    expect((await cluster.lock.inspect('v'))?.state).toBe('done');
  });

  it('of a member: also where a reader waits for the load, which is published behind it', async () => {
    const cluster = new ManualCluster();
    const promises: Promise<unknown>[] = [];
    const a = cluster.instance({ waitUntil: (promise) => void promises.push(promise) });
    const answered = a.link.hold('write');
    const read = a.value.get();
    await cluster.clock.flush();
    await cluster.end(a, 0, 'one');
    expect(await read).toBe('one');
    expect(promises).toHaveLength(1);
    expect(await settled(promises[0] as Promise<unknown>)).toBe('pending');
    answered.resolve();
    await cluster.clock.flush();
    expect(await settled(promises[0] as Promise<unknown>)).toEqual({ value: undefined });
  });

  it('of a member: each check of the store, and the adoption of what it finds', async () => {
    const cluster = new ManualCluster();
    const promises: Promise<unknown>[] = [];
    const options = { schedule: { hours: 1 }, propagateWithin: 100 };
    const [a, b] = await cluster.warm(2, { ...options, waitUntil: (promise) => void promises.push(promise) });
    promises.length = 0;
    await a.value.set('set');
    await cluster.clock.advance(101);
    const answered = b.link.hold('read');
    expect(await b.value.get()).toBe('one');
    expect(promises).toHaveLength(1);
    await cluster.clock.flush();
    expect(promises).toHaveLength(2); // the check, and the read of the snapshot
    expect(await settled(promises[1] as Promise<unknown>)).toBe('pending');
    answered.resolve();
    await Promise.all(promises);
    expect(b.value.peek()).toBe('set');
  });

  it('not before the lease is given back either, where a tag was invalidated while a key was loaded', async () => {
    const cluster = new ManualCluster();
    const a = keyedInstance(cluster);
    await loadKey(cluster, a, 'x', loaded('ex', { tags: ['red'] }));
    await cluster.clock.advance(1030);
    let end: Promise<unknown> | undefined;
    await a.cache.get('x', {
      waitUntil: (promise) => {
        end = promise;
      },
    });
    await cluster.clock.flush();
    a.cache.invalidateTag('red', { here: true });
    const answered = a.link.hold('write');
    a.calls[1]?.resolve(loaded('ex 2', { tags: ['red'] }));
    await cluster.clock.flush();
    expect(a.link.take().at(-1)).toBe('write');
    expect(await settled(end as Promise<unknown>)).toBe('pending');
    answered.resolve();
    await cluster.clock.flush();
    expect(await settled(end as Promise<unknown>)).toEqual({ value: undefined });
    expect(a.cache.inspect('x')).toMatchObject({ isDue: true, value: 'ex 2' });
  });

  it('resolves too where the load fails, once the lease is given back', async () => {
    const cluster = new ManualCluster();
    const promises: Promise<unknown>[] = [];
    const [a] = await cluster.warm(1, { waitUntil: (promise) => void promises.push(promise) });
    await cluster.readAfter(1030, a);
    a.manual.call(1).reject(new Error('down'));
    await Promise.all(promises);
    expect((await cluster.lock.inspect('v'))?.state).toBe('failed');
  });
});
