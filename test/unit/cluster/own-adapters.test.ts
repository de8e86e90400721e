import { expect, it } from 'vitest';
import { memoryLock, memoryStore } from '../../../src/backends/memory.ts';
import { isOptionError } from '../../../src/errors.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { asStore } from '../../../src/records/store/as-store.ts';
import { ManualCluster } from '../../support/cluster.ts';

// A lock and a store of three methods each.

const inner = memoryLock();
const three = {
  acquire: inner.acquire.bind(inner),
  extend: inner.extend.bind(inner),
  release: inner.release.bind(inner),
};

it('a lock of three methods has leases of 30 seconds, and shows and ends nothing to operators', async () => {
  const lock = asLock(three);
  expect(lock.leaseFor).toBe(30_000);
  const value = new RefreshingValue({ name: 'own', load: () => 1, lock });
  expect(await value.get()).toBe(1);
  await value.close();
  expect(await inner.inspect('own')).toMatchObject({ state: 'done' });
  expect(await lock.inspect('own')).toBeUndefined();
  expect(await lock.list()).toEqual([]);
  expect(await lock.forceRelease('own', 1)).toBe(false);
});

it('a store of three methods gets named arguments, and its options', async () => {
  const kept = memoryStore();
  const asked: object[] = [];
  const note = <A extends object>(request: A): A => {
    asked.push(request);
    return request;
  };
  const codec = { format: 'own', encode: String, decode: Number };
  const store = asStore(
    {
      read: async (request) => kept.read(note(request).name, request.newerThan),
      write: async (request) =>
        kept.write(note(request).name, request.payload, request.token, request.rejected),
      delete: (name) => kept.delete(name),
    },
    { codec, longestName: 9 },
  );
  expect(store).toMatchObject({ codec, longestName: 9 });
  const value = new RefreshingValue({ name: 'own', load: () => 7, lock: memoryLock(), store });
  expect(await value.get()).toBe(7);
  await value.close();
  expect(asked[0]).toMatchObject({ name: 'own' });
  expect(asked).toContainEqual(
    expect.objectContaining({
      name: 'own',
      payload: expect.stringContaining('7'),
      token: expect.any(Number),
    }),
  );
  expect(await store.delete('own')).toBe(true);
  expect(await store.read('own')).toBeUndefined();
});

it.each([
  ['a lock', () => asLock({ acquire() {}, extend() {} } as never)],
  ['a store', () => asStore({ read() {}, write() {} } as never)],
  [
    'an unknown option',
    () => asStore({ read() {}, write() {}, delete() {} } as never, { keepVersions: 3 } as never),
  ],
])('%s that lacks what it needs is refused', (_, make) => {
  let error: unknown;
  try {
    make();
  } catch (thrown) {
    error = thrown;
  }
  expect(isOptionError(error)).toBe(true);
});

it('a refresh under a lock that ignores force gets the value of the round that is done', async () => {
  const cluster = new ManualCluster();
  const [{ link, value }] = await cluster.warm(1, { schedule: { hours: 1 } });
  const lock = asLock({ ...three, acquire: (request) => link.lock.acquire({ ...request, force: false }) });
  const { clock, store } = cluster;
  const other = new RefreshingValue({
    name: 'v',
    load: () => 'two',
    schedule: { hours: 1 },
    clock,
    lock,
    store,
  });
  await clock.advance(1000);
  const refreshed = other.refresh();
  await clock.advance(1000);
  expect([await refreshed, value.peek()]).toEqual(['one', 'one']);
});
