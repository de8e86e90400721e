import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { PeriodicExecutor, RefreshGroup, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

const load = async (): Promise<number> => 1;

/** What a member uses, by the lists of its group. */
function backendsOf(group: RefreshGroup): readonly (readonly [lock: unknown, store: unknown])[] {
  return group.members().map(({ lock, store }) => [lock, store]);
}

describe('the option backend', () => {
  it('is a lock and a store', async () => {
    const backend = memoryBackend();
    const group = new RefreshGroup();
    new RefreshingValue({ name: 'value', load, backend, group });
    new RefreshingCache({ name: 'cache', load, backend, group });
    new PeriodicExecutor(() => {}, { name: 'task', backend, group });
    expect(backendsOf(group)).toEqual([
      [backend.lock, backend.store],
      [backend.lock, backend.store],
      [backend.lock, backend.store],
    ]);
    await group.close();
  });

  it('as the option lock is a lock alone: no value is shared', () => {
    const backend = memoryBackend();
    const group = new RefreshGroup({ backend: memoryBackend() });
    new RefreshingValue({ name: 'value', load, lock: backend, group });
    new RefreshingCache({ name: 'cache', load, lock: backend, group });
    new PeriodicExecutor(() => {}, { name: 'task', lock: backend, group });
    expect(backendsOf(group)).toEqual([
      [backend.lock, undefined],
      [backend.lock, undefined],
      [backend.lock, undefined],
    ]);
  });

  it('is not given beside a lock: it has one', () => {
    const backend = memoryBackend();
    for (const lock of [backend, memoryBackend(), backend.lock]) {
      const make = () => new RefreshingValue({ name: 'rates', load, backend, lock });
      expect(make).toThrow(/lock must not be given beside a backend/);
    }
  });

  it('of a group is that of its members, unless they have their own or none', () => {
    const [ofGroup, own, lock] = [memoryBackend(), memoryBackend(), lockOf(memoryBackend())];
    const group = new RefreshGroup({ backend: ofGroup });
    new RefreshingValue({ name: 'as the group', load, group });
    new RefreshingValue({ name: 'own', load, backend: own, group });
    new RefreshingValue({ name: 'none', load, backend: false, group });
    new RefreshingValue({ name: 'own lock', load, lock, group });
    expect(backendsOf(group)).toEqual([
      [ofGroup.lock, ofGroup.store],
      [own.lock, own.store],
      [undefined, undefined],
      [lock, undefined],
    ]);
  });

  it('of a member replaces the lock and the store of its group', () => {
    const backend = memoryBackend();
    const group = new RefreshGroup({ backend: memoryBackend() });
    new RefreshingValue({ name: 'rates', load, backend, group });
    expect(backendsOf(group)).toEqual([[backend.lock, backend.store]]);
  });

  it.each([[{}], [{ lock: {} }], [5], [null]])('must be one: %o', (backend) => {
    expect(() => new RefreshingValue({ name: 'rates', load, backend: backend as never })).toThrow(
      /backend must be a backend, such as redisBackend/,
    );
  });
});

it('a lock is no backend', () => {
  const backend = lockOf(memoryBackend()) as never;
  expect(() => new RefreshingValue({ name: 'rates', load, backend })).toThrow(/backend must be/);
});

describe('the options of a backend', () => {
  it('are those of its lock and of its store', async () => {
    const backend = memoryBackend({
      leaseFor: 5000,
      keepVersions: 3,
      namespace: 'app',
      timeout: 500,
    });
    const store = storeOf(backend);
    expect(lockOf(backend).leaseFor).toBe(5000);
    for (const payload of ['1', '2', '3']) await store.write('rates', payload);
    expect(await store.history('rates')).toHaveLength(3);
  });

  it('are checked', () => {
    expect(() => memoryBackend({ leaseFor: 0 })).toThrow(/leaseFor/);
    expect(() => memoryBackend({ keepVersions: 0 })).toThrow(/keepVersions/);
    expect(() => memoryBackend({ ttl: 5 } as never)).toThrow(/ttl/);
    expect(() => redisBackend(null as never)).toThrow(/client/);
  });
});
