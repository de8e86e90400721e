import { expect, it } from 'vitest';
import { RefreshingCache, type RefreshingCacheOptions } from '../../../src/index.ts';
import {
  acquireRecord,
  asLock,
  type BackendRecord,
  createLock,
  extendRecord,
  forceReleaseRecord,
  type LockBackend,
  releaseRecord,
  rowOfRecord,
} from '../../../src/lock/index.ts';
import { asStore, createStore, type StoreBackend } from '../../../src/store/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const KIND = { longestName: undefined, options: [] };

/** A lock and a store with steps for many names, and the commands that they get. */
function backend(clock: FakeClock, options: { readonly namespace?: string } = {}) {
  const commands: string[] = [];
  const records: Map<string, BackendRecord> = new Map();
  const snapshots: Map<string, { readonly version: number; readonly payload: string }> = new Map();
  const now = () => ({ at: clock.monotonic(), wall: clock.now() });
  const put = (name: string, record: BackendRecord | undefined): boolean =>
    record !== undefined && records.set(name, record) !== undefined;
  const acquire = (request: Parameters<LockBackend['acquire']>[0]) => {
    if (request.name.includes('damaged')) throw new TypeError('damaged');
    const record = acquireRecord(records.get(request.name), request, now());
    put(request.name, record);
    return rowOfRecord(request.name, record, now());
  };
  const release = (...[lease, ending]: Parameters<LockBackend['release']>) =>
    put(lease.name, releaseRecord(records.get(lease.name), lease, ending, now().at));
  const read = (name: string) => {
    const found = snapshots.get(name);
    return found && { ...found, age: 0 };
  };
  const write = (name: string, payload: string, token = 1) => {
    snapshots.set(name, { version: token, payload });
    return { kind: 'written', version: token } as const;
  };
  const step = async <R>(name: string, run: () => R): Promise<R> => {
    commands.push(name);
    return run();
  };
  const orError = <R>(run: () => R): R | Error => {
    try {
      return run();
    } catch (error) {
      return error as Error;
    }
  };
  const lock: LockBackend = {
    acquire: (request) => step('acquire', () => acquire(request)),
    acquireMany: (all) => step('acquire', () => all.map((request) => orError(() => acquire(request)))),
    extend: (lease, leaseFor) =>
      step('extend', () => put(lease.name, extendRecord(records.get(lease.name), lease, leaseFor, now().at))),
    release: (lease, ending) => step('release', () => release(lease, ending)),
    releaseMany: (all) => step('release', () => all.map(({ lease, ending }) => release(lease, ending))),
    forceRelease: async (name, token) => put(name, forceReleaseRecord(records.get(name), token, now().at)),
    find: async () => undefined,
    list: async () => [...records].map(([name, record]) => rowOfRecord(name, record, now())),
  };
  const store: StoreBackend = {
    read: (name) => step('read', () => read(name)),
    readMany: (all) => step('read', () => all.map(({ name }) => read(name))),
    write: (name, payload, token) => step('write', () => write(name, payload, token)),
    writeMany: (all) =>
      step('write', () => all.map(({ name, payload, token }) => write(name, payload, token))),
    delete: async (name) => snapshots.delete(name),
  };
  const open = { lock: createLock(lock, options, KIND), store: createStore(store, options, KIND) };
  return { ...open, commands, records };
}

const REQUEST = { owner: 'me', requestId: 'r', leaseFor: 1000, host: '', force: false };
const KEYS = Array.from({ length: 500 }, (_, i) => i);

function cacheOf(clock: FakeClock, own: Partial<RefreshingCacheOptions<number, number>>) {
  const loadMany = async (keys: readonly number[]) => new Map(keys.map((key) => [key, key]));
  return new RefreshingCache<number, number>({ name: 'c', loadMany, clock, ...own });
}

it('500 cold keys with lock and store cost at most 10 commands, and so do those of an instance that adopts them', async () => {
  const clock = new FakeClock();
  const { lock, store, commands, records } = backend(clock);
  const read = cacheOf(clock, { lock, store }).getMany(KEYS);
  await clock.advance(10);
  expect((await read).size).toBe(500);
  await clock.advance(10);
  expect([...records.values()].filter(({ state }) => state === 'done')).toHaveLength(500);
  // One key asks first, as always where a backend has not answered for a while.
  expect(commands).toEqual(['read', 'read', 'acquire', 'acquire', 'write', 'release']);
  commands.length = 0;
  const adopted = cacheOf(clock, { lock, store, loadMany: async () => new Map() }).getMany(KEYS);
  await clock.advance(10);
  expect((await adopted).size).toBe(500);
  expect(commands).toEqual(['read']);
});

it.each([
  ['a namespace', (clock: FakeClock) => backend(clock, { namespace: 'service' })],
  [
    'asLock and asStore',
    (clock: FakeClock) => {
      const { lock, store, ...others } = backend(clock);
      return { ...others, lock: asLock(lock), store: asStore(store) };
    },
  ],
])('keys share commands, and are answered for by hand, with %s', async (_, open) => {
  const clock = new FakeClock();
  const { lock, store, commands } = open(clock);
  const read = cacheOf(clock, { lock, store }).getMany(KEYS);
  await clock.advance(10);
  expect((await read).get(499)).toBe(499);
  await clock.advance(10);
  expect(commands).toHaveLength(6);
  const name = 'c[499]';
  expect(await lock.acquireMany?.([{ ...REQUEST, name }])).toMatchObject([{ kind: 'done' }]);
  expect(await store.readMany?.([{ name }, { name: 'none' }])).toMatchObject([{ age: 0 }, undefined]);
});

it('a key whose record is damaged is alone with that', async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = { warn: (line: string) => void lines.push(line), error: () => {} };
  const { lock, records } = backend(clock);
  const cache = new RefreshingCache({
    ...{ name: 'c', clock, lock, logger, schedule: 1000 },
    load: async (key: string) => key,
  });
  const read = cache.getMany(['a', 'damaged', 'b']);
  await clock.advance(10);
  expect((await read).size).toBe(3);
  await clock.advance(10);
  expect([...records].map(([name, { state }]) => `${name} ${state}`)).toEqual(['c["a"] done', 'c["b"] done']);
  expect(lines).toHaveLength(1);
});
