import { describe, expect, it } from 'vitest';
import { memoryLock, memoryStore } from '../../../src/backends/memory.ts';
import type { LeaseExtension } from '../../../src/cluster/lock-contract.ts';
import type { SnapshotRead, SnapshotWrite } from '../../../src/cluster/store-contract.ts';
import {
  type AcquireRequest,
  isOptionError,
  type LoadError,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { createLock } from '../../../src/lock/create-lock.ts';
import type { LeaseEnd, LockBackend } from '../../../src/lock/lock-backend.ts';
import { namespacedLock } from '../../../src/lock/namespaced-lock.ts';
import { createStore } from '../../../src/store/create-store.ts';
import { namespacedStore } from '../../../src/store/namespaced-store.ts';
import type { StoreBackend } from '../../../src/store/store-backend.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordEvents } from '../../support/events.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

/** Engines as of `memoryLock` and `memoryStore`, for locks and stores of different namespaces. */
function sharedBackend() {
  const clock = new FakeClock();
  const [inner, kept] = [memoryLock({ clock }), memoryStore({ clock })];
  const names = new Set<string>();
  const kind = { longestName: 100, options: [], clock };
  const rowOf = async (name: string) => {
    const found = await inner.inspect(name);
    return found && { ...found, requestId: '', now: clock.now() };
  };
  const lockEngine: LockBackend = {
    async acquire(request) {
      names.add(request.name);
      const answer = await inner.acquire(request);
      const requestId = answer.kind === 'acquired' ? request.requestId : 'another';
      return { ...(await rowOf(request.name))!, requestId };
    },
    extend: (lease, leaseFor) => inner.extend(lease, leaseFor),
    release: (lease, { state, holdFor, error }) => {
      const outcome = state === 'abandoned' ? { as: state } : { as: state, holdFor, error };
      return inner.release(lease, outcome as Parameters<typeof inner.release>[1]);
    },
    find: rowOf,
    list: async (prefix, limit) =>
      (await inner.list({ prefix, limit })).map((record) => ({ ...record, requestId: '', now: clock.now() })),
    forceRelease: (name, token) => inner.forceRelease(name, token),
  };
  const storeEngine: StoreBackend = {
    read: (name, newerThan) => kept.read(name, newerThan),
    write(name, payload, token) {
      names.add(name);
      return kept.write(name, payload, token);
    },
    delete: (name) => kept.delete(name),
  };
  return {
    clock,
    names,
    kept,
    lock: (namespace?: string) => createLock(lockEngine, { namespace }, kind),
    store: (namespace?: string) => createStore(storeEngine, { namespace }, kind),
  };
}

describe('a namespace', () => {
  it('of locks and stores keeps two services with one name apart', async () => {
    const { clock, names, lock, store } = sharedBackend();
    const service = (namespace: string): RefreshingValue<string> =>
      new RefreshingValue({
        name: 'config',
        load: async () => namespace,
        clock,
        lock: lock(namespace),
        store: store(namespace),
      });
    expect(await service('shop').get()).toBe('shop');
    expect(await service('bank').get()).toBe('bank');
    await clock.flush();
    expect([...names].sort()).toEqual(['bank/config', 'shop/config']);
    expect((await lock('shop').list()).map(({ name }) => name)).toEqual(['config']);
    expect(await lock('shop').inspect('config')).toMatchObject({ name: 'config', state: 'done' });
    expect(await lock('other').inspect('config')).toBeUndefined();
    expect(await store('bank').delete('config')).toBe(true);
    expect(await store('bank').read('config')).toBeUndefined();
    expect(await store('shop').read('config')).toBeDefined();
  });

  it('leases of a namespace can be extended and released by hand', async () => {
    const { lock } = sharedBackend();
    const answer = await lock('shop').acquire({ name: 'n' });
    if (answer.kind !== 'acquired') throw new Error(answer.kind);
    expect(answer.lease.name).toBe('n');
    expect(await lock('shop').extend(answer.lease)).toBe(true);
    expect(await lock('bank').release(answer.lease, { as: 'abandoned' })).toBe(false);
    expect(await lock('shop').release(answer.lease, { as: 'abandoned' })).toBe(true);
  });

  it('of a group begins the names of its members; errors keep the plain name', async () => {
    const { clock, names, lock, store } = sharedBackend();
    const group = new RefreshGroup({ namespace: 'shop', clock, lock: lock('eu'), store: store() });
    await group.value({ name: 'rates', load: async () => 1 }).get();
    await group.cache({ name: 'cities', load: async (key: string) => key }).get('1012');
    await group.value({ name: 'own', namespace: 'bank', load: async () => 1 }).get();
    await clock.flush();
    const expected = ['shop/rates', 'shop/cities["1012"]', 'bank/own'];
    expect([...names].sort()).toEqual([...expected, ...expected.map((name) => `eu/${name}`)].sort());
  });

  it('begins the names of steps for many names too', async () => {
    const asked: string[] = [];
    const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
    const lock = namespacedLock(
      {
        acquireMany: async (requests: readonly AcquireRequest[]) => {
          asked.push(...names(requests));
          return requests.map(({ name }, index) => (index === 0 ? new Error('damaged') : { name }));
        },
        releaseMany: async (ends: readonly LeaseEnd[]) => {
          asked.push(...names(ends.map(({ lease }) => lease)));
          return [];
        },
        extendMany: async (extensions: readonly LeaseExtension[]) => {
          asked.push(...names(extensions.map(({ lease }) => lease)));
          return [];
        },
      } as unknown as LockBackend,
      'shop/',
    );
    const rows = await lock.acquireMany!([{ name: 'a' }, { name: 'b' }] as AcquireRequest[]);
    expect(rows).toEqual([new Error('damaged'), { name: 'b' }]);
    await lock.releaseMany!([{ lease: { name: 'c' } }] as LeaseEnd[]);
    await lock.extendMany!([{ lease: { name: 'f' } }] as LeaseExtension[]);
    const store = namespacedStore(
      {
        readMany: async (reads: readonly SnapshotRead[]) => {
          asked.push(...names(reads));
          return [];
        },
        writeMany: async (writes: readonly SnapshotWrite[]) => {
          asked.push(...names(writes));
          return [];
        },
      } as unknown as StoreBackend,
      'shop/',
    );
    await store.readMany!([{ name: 'd' }]);
    await store.writeMany!([{ name: 'e', payload: '' }]);
    expect(asked).toEqual(['shop/a', 'shop/b', 'shop/c', 'shop/f', 'shop/d', 'shop/e']);
  });

  it.each(['', 'a\0b', 7, 'x'.repeat(51)])('%j is refused by locks and stores', (namespace) => {
    const { lock, store } = sharedBackend();
    expect(thrownBy(() => lock(namespace as string))).toMatchObject({ option: 'namespace' });
    expect(thrownBy(() => store(namespace as string))).toMatchObject({ option: 'namespace' });
  });
});

describe('a snapshot of another maker', () => {
  it('is rejected and reported: a value is no key of a cache', async () => {
    const { clock, store } = new ManualCluster();
    const name = 'cities["1012"]';
    const asValue = (load: string): RefreshingValue<string> =>
      new RefreshingValue({ name, load: async () => load, clock, logger: false, store });
    await asValue('of the value').get();
    await clock.flush();
    const cache = new RefreshingCache<string, string>({
      name: 'cities',
      load: async () => 'of the key',
      clock,
      logger: false,
      store,
    });
    const events = recordEvents(cache);
    expect(await cache.get('1012')).toBe('of the key');
    const rejected = events.find(({ type }) => type === 'snapshot-rejected');
    expect(rejected).toMatchObject({
      error: { message: expect.stringContaining('it was made by the value') },
    });
    await clock.flush();
    expect(await asValue('again').get()).toBe('again');
  });

  it('of another name is rejected', async () => {
    const { clock, store } = new ManualCluster();
    const value = (name: string): RefreshingValue<string> =>
      new RefreshingValue({ name, load: async () => name, clock, logger: false, store });
    await value('a').get();
    await clock.flush();
    await store.write('b', (await store.read('a'))!.payload);
    expect(await value('b').get()).toBe('b');
  });
});

describe('keys whose lock name is longer than the backend accepts', () => {
  const key = (end: string): string => `${'k'.repeat(120)}é${end}`;

  it('are locked and published under their beginning and a hash, each under its own', async () => {
    const { clock, names, lock, store } = sharedBackend();
    const loads: string[] = [];
    const instance = (): RefreshingCache<string, string> =>
      new RefreshingCache<string, string>({
        name: 'cities',
        load: async (asked) => {
          loads.push(asked);
          return asked;
        },
        clock,
        lock: lock(),
        store: store(),
      });
    const first = instance();
    expect(await first.get(key('a'))).toBe(key('a'));
    expect(await first.get(key('b'))).toBe(key('b'));
    await first.close();
    const second = instance();
    expect([await second.get(key('a')), await second.get(key('b'))]).toEqual([key('a'), key('b')]);
    expect(loads).toEqual([key('a'), key('b')]);
    expect([...names]).toHaveLength(2);
    for (const name of names) {
      expect(name).toMatch(/^cities\["k{40,}~[0-9a-f]{32}$/);
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(100);
    }
  });

  it.each(['lock', 'store'] as const)(
    'beyond 8,192 bytes are refused before any load, with a %s',
    async (what) => {
      const { clock, lock, store } = sharedBackend();
      let loads = 0;
      const cache = new RefreshingCache<string, number>({
        name: 'c',
        load: async () => ++loads,
        clock,
        logger: false,
        ...(what === 'lock' ? { lock: lock() } : { store: store() }),
      });
      const error = (await rejectionOf(cache.get('k'.repeat(8192)))) as LoadError;
      expect([isOptionError(error.cause), loads]).toEqual([true, 0]);
      expect(error.message).toContain('must be short enough for a lock name of 8192 bytes');
      expect(await cache.get('k'.repeat(8000))).toBe(1);
    },
  );
});
