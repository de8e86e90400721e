import { describe, expect, it } from 'vitest';
import { type CacheOptions, RefreshingCache } from '../../../src/index.ts';
import type { BackendOptions } from '../../../src/records/backend-options.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { WITHOUT_CHECKS } from '../../support/cluster.ts';
import { lockOn, storeOn } from '../../support/parts.ts';
import {
  recordsOfLock,
  recordsOfStore,
  type StepsOfLock,
  type StepsOfStore,
} from '../../support/records-of-steps.ts';
import {
  acquired as acquireRecord,
  type BackendRecord,
  extended as extendRecord,
  forceReleased as forceReleaseRecord,
  released as releaseRecord,
  rowOf as rowOfRecord,
} from '../testing/lock-record.ts';

const KIND = { longestName: undefined, options: [] };

/** A lock and a store with steps for many names, and the commands that they get. */
function backend(
  clock: FakeClock,
  { extendsMany = true, ...options }: BackendOptions & { readonly extendsMany?: boolean } = {},
) {
  const commands: string[] = [];
  const records: Map<string, BackendRecord> = new Map();
  const snapshots: Map<string, { readonly version: number; readonly payload: string }> = new Map();
  const now = () => ({ at: clock.monotonic(), wall: clock.now() });
  const put = (name: string, record: BackendRecord | undefined): boolean =>
    record !== undefined && records.set(name, record) !== undefined;
  const acquire = (request: Parameters<StepsOfLock['acquire']>[0]) => {
    if (request.name.includes('damaged')) throw new TypeError('damaged');
    const record = acquireRecord(records.get(request.name), request, now());
    put(request.name, record);
    return rowOfRecord(request.name, record, now());
  };
  const release = (...[lease, ending]: Parameters<StepsOfLock['release']>) =>
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
  const extend = (...[lease, leaseFor]: Parameters<StepsOfLock['extend']>) =>
    put(lease.name, extendRecord(records.get(lease.name), lease, leaseFor, now().at));
  const lock: StepsOfLock = {
    acquire: (request) => step('acquire', () => acquire(request)),
    acquireMany: (all) => step('acquire', () => all.map((request) => orError(() => acquire(request)))),
    extend: (lease, leaseFor) => step('extend', () => extend(lease, leaseFor)),
    ...(extendsMany && {
      extendMany: (all) =>
        step(`extend ${all.length}`, () => all.map(({ lease, leaseFor }) => extend(lease, leaseFor))),
    }),
    release: (lease, ending) => step('release', () => release(lease, ending)),
    releaseMany: (all) => step('release', () => all.map(({ lease, ending }) => release(lease, ending))),
    forceRelease: async (name, token) => put(name, forceReleaseRecord(records.get(name), token, now().at)),
    find: async () => undefined,
    list: async () => [...records].map(([name, record]) => rowOfRecord(name, record, now())),
  };
  const store: StepsOfStore = {
    read: (name) => step('read', () => read(name)),
    readMany: (all) => step('read', () => all.map(({ name }) => read(name))),
    write: (name, payload, token) => step('write', () => write(name, payload, token)),
    writeMany: (all) =>
      step('write', () => all.map(({ name, payload, token }) => write(name, payload, token))),
    delete: async (name) => snapshots.delete(name),
  };
  const { namespace } = options;
  const open = {
    lock: lockOn(recordsOfLock(lock), options, KIND),
    store: storeOn(recordsOfStore(store), { namespace }, KIND),
  };
  return { ...open, commands, records };
}

const REQUEST = { owner: 'me', requestId: 'r', leaseFor: 1000, host: '', force: false };
const KEYS = Array.from({ length: 500 }, (_, i) => i);

function cacheOf(clock: FakeClock, own: Partial<CacheOptions<number, number>>) {
  const loadMany = async (keys: readonly number[]) => new Map(keys.map((key) => [key, key]));
  const given = own.backend ? { propagateWithin: WITHOUT_CHECKS, ...own } : own;
  return new RefreshingCache<number, number>({ name: 'c', loadMany, clock, ...given });
}

it('500 cold keys with lock and store cost at most 10 commands, and so do those of an instance that adopts them', async () => {
  const clock = new FakeClock();
  const { lock, store, commands, records } = backend(clock);
  const read = cacheOf(clock, { backend: { lock, store } }).getMany(KEYS);
  await clock.advance(10);
  expect((await read).size).toBe(500);
  await clock.advance(10);
  expect([...records.values()].filter(({ state }) => state === 'done')).toHaveLength(500);
  // One key asks first, as always where a backend has not answered for a while.
  expect(commands).toEqual(['read', 'read', 'acquire', 'acquire', 'write', 'release']);
  commands.length = 0;
  const adopted = cacheOf(clock, { backend: { lock, store }, loadMany: async () => new Map() }).getMany(KEYS);
  await clock.advance(10);
  expect((await adopted).size).toBe(500);
  expect(commands).toEqual(['read', 'read']); // the marks of the cache, and the keys
});

it('keys share commands, and are answered for by hand, in a namespace too', async () => {
  const clock = new FakeClock();
  const { lock, store, commands } = backend(clock, { namespace: 'service' });
  const read = cacheOf(clock, { backend: { lock, store } }).getMany(KEYS);
  await clock.advance(10);
  expect((await read).get(499)).toBe(499);
  await clock.advance(10);
  expect(commands).toHaveLength(6);
  const name = 'c[499]';
  expect(await lock.acquire({ ...REQUEST, name })).toMatchObject({ kind: 'done' });
  expect(await Promise.all([store.read(name), store.read('none')])).toMatchObject([{ age: 0 }, undefined]);
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

const LEASE = { leaseFor: 3000 };
const slowly = (clock: FakeClock, ms: number) => async (keys: readonly number[]) => {
  await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
  return new Map(keys.map((key) => [key, key]));
};

it('leases of one instance are extended in one command of at most 500 names, at each third of a lease', async () => {
  const clock = new FakeClock();
  const { lock, commands, records } = backend(clock, LEASE);
  const keys = Array.from({ length: 1200 }, (_, i) => i);
  const read = cacheOf(clock, { lock, loadMany: slowly(clock, 6000) }).getMany(keys);
  await clock.advance(10);
  commands.length = 0;
  await clock.advance(5900);
  expect([...records.values()].every(({ leaseUntil }) => leaseUntil > clock.monotonic())).toBe(true);
  expect(commands).toHaveLength(5 * 3);
  expect(new Set(commands)).toEqual(new Set(['extend 500', 'extend 200']));
  await clock.advance(100);
  expect((await read).size).toBe(1200);
});

it('leases that were acquired one after the other come to be extended together', async () => {
  const clock = new FakeClock();
  const { lock, commands } = backend(clock, LEASE);
  const cache = cacheOf(clock, { lock, loadMany: slowly(clock, 20_000) });
  const reads: Promise<unknown>[] = [];
  for (const key of KEYS.slice(0, 100)) {
    reads.push(cache.get(key));
    await clock.advance(20);
  }
  commands.length = 0;
  await clock.advance(3000);
  expect(commands.length).toBeLessThanOrEqual(10);
  await clock.advance(30_000);
  expect(await Promise.all(reads)).toHaveLength(100);
});

it('without extendMany each lease is extended by a command of its own, 32 at a time, before commands that wait', async () => {
  const clock = new FakeClock();
  const { lock, commands, records } = backend(clock, { ...LEASE, extendsMany: false });
  let [underWay, most] = [0, 0];
  const slow = asLock({
    ...lock,
    async extend(lease, leaseFor) {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 1));
      underWay -= 1;
      return lock.extend(lease, leaseFor as number);
    },
    acquire: (request) => lock.acquire(request),
    release: (lease, outcome) => lock.release(lease, outcome),
    inspect: (name) => lock.inspect(name),
    list: (options) => lock.list(options),
    forceRelease: (name, token) => lock.forceRelease(name, token),
  });
  const read = cacheOf(clock, { lock: slow, loadMany: slowly(clock, 2500) }).getMany(KEYS);
  await clock.advance(10);
  commands.length = 0;
  await clock.advance(2400);
  expect(commands).toEqual(Array.from({ length: 1000 }, () => 'extend'));
  expect(most).toBe(32);
  expect([...records.values()].every(({ leaseUntil }) => leaseUntil > clock.monotonic())).toBe(true);
  await clock.advance(100);
  expect((await read).size).toBe(500);
});

describe('keys that wait for the load of another instance ask together, at the pace of one', () => {
  /** Of keys that come in crowds, with so many milliseconds between them. */
  async function questionsOf(count: number, crowd: number, loadMs: number, apartMs: number): Promise<number> {
    const clock = new FakeClock();
    const { lock, store, commands } = backend(clock, LEASE);
    const keys = KEYS.slice(0, count);
    const winner = cacheOf(clock, { backend: { lock, store }, loadMany: slowly(clock, loadMs) }).getMany(
      keys,
    );
    await clock.advance(10);
    commands.length = 0;
    const waiting = cacheOf(clock, { backend: { lock, store }, loadMany: async () => new Map() });
    const reads: Promise<number>[] = [];
    for (const key of keys) {
      reads.push(waiting.get(key));
      if ((key + 1) % crowd === 0) await clock.advance(apartMs);
    }
    await clock.advance(loadMs + 2000);
    expect((await winner).size).toBe(count);
    expect(await Promise.all(reads)).toEqual(keys);
    return commands.filter((command) => command === 'acquire' || command === 'read').length;
  }

  it('and soon after each other', async () => {
    const alone = await questionsOf(1, 1, 2700, 1);
    expect(alone).toBeGreaterThan(8);
    expect(await questionsOf(500, 100, 2700, 1)).toBeLessThanOrEqual(alone + 10); // five crowds, of which four come to ask with the first
  });

  it.each([330, 470, 1250, 1700])(
    'and those that have come %d ms later, once they ask as seldom',
    async (apartMs) => {
      const alone = await questionsOf(1, 1, 25_000, apartMs);
      expect(alone).toBeGreaterThan(30);
      expect(await questionsOf(200, 100, 25_000, apartMs)).toBeLessThanOrEqual(alone + 20);
    },
  );
});
