import { describe, expect, it } from 'vitest';
import { type CacheOptions, RefreshingCache } from '../../../src/index.ts';
import type { BackendOptions } from '../../../src/records/backend-options.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import type { Edit } from '../../../src/records/records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { WITHOUT_CHECKS } from '../../support/cluster.ts';
import { recordLines } from '../../support/events.ts';
import { methodsOf, partsOn, recordsWith } from '../../support/parts.ts';

/** The command of edits that are all of one kind. */
function commandOf(edits: readonly Edit[]): string {
  const [first] = edits;
  if (first?.op === 'claim') return 'acquire';
  if (first?.op === 'amend') return first.phase === undefined ? `extend ${edits.length}` : 'release';
  return first?.op === 'put' ? 'write' : 'read';
}

/** A lock and a store over records in memory, and the commands that they get. */
function backend(
  clock: FakeClock,
  { mostEdits = 500, ...options }: BackendOptions & { readonly mostEdits?: number } = {},
) {
  const commands: string[] = [];
  const memory = memoryRecords(clock);
  const records = recordsWith(memory, {
    mostEdits,
    sharesCommands: false,
    async apply(edits) {
      commands.push(commandOf(edits));
      const { now, answers } = await memory.apply(edits.filter(({ name }) => !name.includes('damaged')));
      const left = [...answers];
      const answerTo = ({ name }: Edit) =>
        name.includes('damaged') ? new TypeError('damaged') : (left.shift() as (typeof left)[0]);
      return { now, answers: edits.map(answerTo) };
    },
  });
  const kind = { longestName: undefined, options: [], clock };
  const { lock, store } = partsOn(records, options, kind);
  return {
    commands,
    lock,
    store,
    /** Of all names. */
    list: () => lock.list({ limit: 10_000 }),
  };
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
  const { lock, store, commands, list } = backend(clock);
  const read = cacheOf(clock, { backend: { lock, store } }).getMany(KEYS);
  await clock.advance(10);
  expect((await read).size).toBe(500);
  await clock.advance(10);
  expect((await list()).filter(({ state }) => state === 'done')).toHaveLength(500);
  // One key asks first, as always where a backend has not answered for a while.
  expect(commands).toEqual(['read', 'read', 'acquire', 'acquire', 'write']);
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
  expect(commands).toHaveLength(5);
  const name = 'c[499]';
  expect(await lock.acquire({ ...REQUEST, name })).toMatchObject({ kind: 'done' });
  expect(await Promise.all([store.read(name), store.read('none')])).toMatchObject([{ age: 20 }, undefined]);
});

it('a key whose record is damaged is alone with that', async () => {
  const clock = new FakeClock();
  const logger = recordLines();
  const { lock, list } = backend(clock);
  const cache = new RefreshingCache({
    ...{ name: 'c', clock, lock, logger, schedule: 1000 },
    load: async (key: string) => key,
  });
  const read = cache.getMany(['a', 'damaged', 'b']);
  await clock.advance(10);
  expect((await read).size).toBe(3);
  await clock.advance(10);
  expect((await list()).map(({ name, state }) => `${name} ${state}`)).toEqual(['c["a"] done', 'c["b"] done']);
  expect(logger.lines).toHaveLength(1);
});

const LEASE = { leaseFor: 3000 };
const slowly = (clock: FakeClock, ms: number) => async (keys: readonly number[]) => {
  await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
  return new Map(keys.map((key) => [key, key]));
};

it('leases of one instance are extended in one command of at most 500 names, at each third of a lease', async () => {
  const clock = new FakeClock();
  const { lock, commands, list } = backend(clock, LEASE);
  const keys = Array.from({ length: 1200 }, (_, i) => i);
  const read = cacheOf(clock, { lock, loadMany: slowly(clock, 6000) }).getMany(keys);
  await clock.advance(10);
  commands.length = 0;
  await clock.advance(5900);
  expect((await list()).every(({ leaseLeft }) => leaseLeft > 0)).toBe(true);
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

it('with a lock of your own each lease is extended by a command of its own, 32 at a time, before commands that wait', async () => {
  const clock = new FakeClock();
  const { lock, commands, list } = backend(clock, { ...LEASE, mostEdits: 1 });
  let [underWay, most] = [0, 0];
  const slow = asLock({
    ...methodsOf(lock),
    async extend(lease, leaseFor) {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 1));
      underWay -= 1;
      return lock.extend(lease, leaseFor);
    },
  });
  const read = cacheOf(clock, { lock: slow, loadMany: slowly(clock, 2500) }).getMany(KEYS);
  await clock.advance(10);
  commands.length = 0;
  await clock.advance(2400);
  expect(commands).toEqual(Array.from({ length: 1000 }, () => 'extend 1'));
  expect(most).toBe(32);
  expect((await list()).every(({ leaseLeft }) => leaseLeft > 0)).toBe(true);
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
