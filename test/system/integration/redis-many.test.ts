import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisCells } from '../../../src/backends/redis/redis-cells.ts';
import { type RedisBackendOptions, redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import type { Edit } from '../../../src/records/records.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { redisRecords } from '../../support/redis-records.ts';
import { type RealServer, startRedis } from './support/servers.ts';

const KEYS = Array.from({ length: 50 }, (_, i) => `${i}`);

const PUT: Edit = { op: 'put', name: 'snapshot/n', token: 7, text: 'payload', older: 0 };
const DONE = { isDone: true };
const reportOf = (text: string): Edit => ({ op: 'put', name: 'report//i', text, keepMs: 60_000, older: 0 });

/** It finds out that they are several. */
const twoSlots = (lock: Lock): Promise<unknown> =>
  Promise.all(['two', 'slots'].map((name) => lock.acquire({ name })));

describe.each([false, true])('Redis, as a cluster: %s', (isCluster) => {
  let server: RealServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis({ isCluster });
    client = new Redis(server.url);
    if (!isCluster) return;
    await client.call('cluster', 'addslotsrange', '0', '16383');
    while (!String(await client.cluster('INFO')).includes('cluster_state:ok')) await sleep(20);
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.close();
  });

  const backendIn = (space: string, options: Partial<RedisBackendOptions> = {}) =>
    redisBackend({ client, prefix: `${space}:`, timeout: 10_000, ...options }); // on a busy machine
  const lockIn = (...of: Parameters<typeof backendIn>) => lockOf(backendIn(...of));
  const storeIn = (...of: Parameters<typeof backendIn>) => storeOf(backendIn(...of));

  it.each(['{rounds}', 'rounds'])('a report goes with a write to the same slot: %s', async (space) => {
    const records = redisRecords({ client, prefix: `${space}:`, timeout: 10_000 });
    for (const text of ['first', 'second'])
      expect((await records.apply([PUT, reportOf(text)])).answers).toMatchObject([{ isDone: true }, DONE]);
    expect(records.sharesCommands).toBe(!isCluster || space.startsWith('{')); // found out by the first
    expect((await records.list('report//', 10)).rows).toMatchObject([['report//i', { text: 'second' }]]);
  });

  it('a report that can not be stored is lost, and the rest of the command is not', async () => {
    const store = storeIn('{lost}');
    await client.set('{lost}:{report}//i', 'not ours');
    const report = { instance: 'i', text: '[]', keepFor: 60_000 };
    const records = redisRecords({ client, prefix: '{lost}:', timeout: 10_000 });
    expect((await records.apply([PUT, reportOf('[]')])).answers[0]).toMatchObject({ isDone: true });
    expect(await store.versions(['n'], report)).toEqual([7]);
  });

  it.each(['{checked}', 'checked'])('checks names and reports of many slots: %s', async (space) => {
    const prefix = `${space}:store:`;
    const store = storeIn(`${space}:store`);
    for (const key of KEYS) await store.write(key, 'payload', 7);
    await client.set(`${prefix}name/other`, 'not ours');
    await client.pexpire(`${prefix}name/0`, 50_000);
    const report = { instance: 'a', text: '[]', keepFor: 60_000 };
    expect(await store.versions([...KEYS, 'other', 'none'], report)).toEqual([...KEYS.map(() => 7), 0, 0]);
    expect(await store.versions(['other'])).toEqual([0]);
    expect(await store.reports()).toMatchObject([{ instance: 'a', text: '[]' }]);
    expect(await client.pttl(`${prefix}name/0`)).toBeLessThanOrEqual(50_000); // a check prolongs nothing
  });

  it('the rights that the docstring lists are enough for values and leases', async () => {
    const rights = listedRights();
    expect(rights).toContain('+hdel');
    await client.acl('SETUSER', 'least', 'on', '>secret', '~*', '-@all', ...rights);
    const user = new Redis(server.url, { username: 'least', password: 'secret', enableReadyCheck: false });
    const store = storeIn('{least}', { client: user, keepVersions: 3 });
    for (const token of [1, 2, 3, 4, 5]) await store.write('n', 'payload', token);
    await store.write('n', 'absent', 6, undefined, 1000);
    expect(await store.read('n')).toMatchObject({ version: 6 });
    expect(await store.history('n')).toHaveLength(1);
    expect(await store.versions(['n'], { instance: 'i', text: '[]', keepFor: 1000 })).toEqual([6]);
    expect(await store.reports()).toHaveLength(1);
    expect(await store.delete('n')).toBe(true);
    const lock = lockIn('{least}', { client: user });
    const lease = await leaseOf(lock, { name: 'n' });
    expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
    expect(await lock.list()).toMatchObject([{ name: 'n', state: 'done' }]);
    user.disconnect();
  });

  it.each(['{reports}', 'reports'])(
    'reports expire each for itself, and at most 1,000 are listed: %s',
    async (space) => {
      const store = storeIn(space);
      const send = (instance: string, keepFor: number) =>
        store.versions([], { instance, text: '[]', keepFor });
      for (let i = 0; i < 100; i++) await send(`brief ${i}`, 1);
      await send('long', 60_000);
      await expect
        .poll(async () => (await store.reports()).map(({ instance }) => instance))
        .toEqual(['long']);
      const instances = Array.from({ length: 1000 }, (_, i) => `${i}`);
      await Promise.all(instances.map((instance) => send(instance, 60_000)));
      expect(await store.reports()).toHaveLength(1000);
      expect(await client.zcard(`${space}:{report}`)).toBeLessThan(1050); // those that have expired leave it
    },
  );

  /** The commands of the server since the last call, by name. */
  async function counted(): Promise<ReadonlyMap<string, number>> {
    const info = String(await client.info('commandstats'));
    await client.config('RESETSTAT');
    return new Map(
      Array.from(info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm), ([, name, calls]) => [
        String(name),
        Number(calls),
      ]),
    );
  }

  it.each(['{listed}', 'listed'])('list looks at no key of others: %s', async (space) => {
    const lock = lockIn(space);
    await Promise.all(KEYS.map((name) => lock.acquire({ name })));
    const others = "for i = 1, 20000 do redis.call('SET', KEYS[1] .. i, 'not ours') end";
    if (!isCluster || space.startsWith('{')) await client.eval(others, 1, `${space}:others`);
    await counted();
    const listed = await lockIn(space).list({ prefix: '1' });
    const counts = await counted();
    expect(listed.map(({ name }) => name)).toEqual(['1', ...KEYS.slice(10, 20)]);
    expect((await lockIn(space).list({ limit: 3 })).map(({ name }) => name)).toEqual(['0', '1', '10']);
    expect(await lockIn(space).list({ prefix: 'none' })).toEqual([]);
    expect(counts.get('scan')).toBeUndefined();
    // Two, sent again as text on first use; without a hash tag one for each record besides.
    const most = isCluster && !space.startsWith('{') ? 5 + 11 : 4;
    expect((counts.get('evalsha') ?? 0) + (counts.get('eval') ?? 0)).toBeLessThanOrEqual(most);
  });

  it.each(['{index}', 'index'])(
    'the index forgets names whose records have expired, and expires with the last one: %s',
    async (space) => {
      const lock = lockIn(space, { leaseFor: 1000, retention: 1 });
      const index = `${space}:{name}`;
      const isApart = isCluster && !space.startsWith('{');
      for (let i = 0; i < 100; i++) {
        const lease = await leaseOf(lock, { name: `brief ${i}` });
        await lock.release(lease, { as: 'done', holdFor: 0 });
      }
      await sleep(50);
      await lock.acquire({ name: 'kept' });
      if (isApart) {
        await expect.poll(() => client.zcard(index)).toBe(101);
        // As if all other names had been added long ago.
        for (const name of await client.zrange(index, '0', '-2'))
          await client.zincrby(index, -1_300_000, name);
        await lock.acquire({ name: 'another' });
      }
      const left = isApart ? ['another', 'kept'] : ['kept'];
      await expect.poll(async () => (await client.zrange(index, '0', '-1')).sort()).toEqual(left);
      expect((await lock.list()).map(({ name }) => name)).toEqual(left);
      const most = 1001 + (isApart ? 1_200_000 : 0);
      expect(await client.pttl(index)).toBeLessThanOrEqual(most + 1);
      expect(await client.pttl(index)).toBeGreaterThan(0);
    },
  );

  it.each(['{again}', 'again'])(
    'a name that has left the index is in it again after the next acquire: %s',
    async (space) => {
      const lock = lockIn(space);
      const names = async () => (await lock.list()).map(({ name }) => name);
      await lock.acquire({ name: 'kept' }); // finds out whether the slots are several
      await lock.acquire({ name: 'n' });
      await expect.poll(names).toEqual(['kept', 'n']);
      await client.zrem(`${space}:{name}`, 'n');
      expect(await names()).toEqual(['kept']);
      await client.del(`${space}:name/n`);
      await lockIn(space).acquire({ name: 'n' });
      await expect.poll(names).toEqual(['kept', 'n']);
    },
  );

  it.each(['{held}', 'held'])('a record that is held for long is listed as long: %s', async (space) => {
    const lock = lockIn(space, { retention: 1 });
    await twoSlots(lock);
    const till = async (): Promise<number> =>
      Number(await client.zscore(`${space}:{name}`, 'n')) - Date.now();
    const day = 86_400_000;
    const lease = await leaseOf(lock, { name: 'n' });
    await lock.release(lease, { as: 'done', holdFor: 30 * day });
    await expect.poll(till).toBeGreaterThan(29 * day);
    const forced = await leaseOf(lock, { name: 'n', force: true });
    expect(await lock.release(forced, { as: 'done', holdFor: 0 })).toBe(true);
    if (!isCluster || space.startsWith('{')) expect(await till()).toBeLessThan(day);
    const forEver = lockIn(space, { retention: Infinity });
    await forEver.acquire({ name: 'n' });
    await expect.poll(till).toBeGreaterThan(1000 * 365 * day);
    expect(await client.pttl(`${space}:{name}`)).toBe(-1);
  });

  it.runIf(isCluster)(
    'a name that is added to the index late stays there for as long as before',
    async () => {
      const late: (() => Promise<unknown>)[] = [];
      const slow = {
        ...{ status: 'ready', options: {}, connect: async () => {}, on: () => {} },
        call(command: string, ...args: string[]): Promise<unknown> {
          const send = () => client.call(command, ...args);
          if (!args.includes('indexApart')) return send();
          return new Promise((resolve) => late.push(() => send().then(resolve)));
        },
      };
      const space = 'late';
      const brief = lockIn(space, { client: slow, retention: 1, leaseFor: 10 });
      await twoSlots(brief);
      await brief.acquire({ name: 'n' });
      await sleep(50);
      const long = lockIn(space);
      await twoSlots(long);
      expect(await long.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired' });
      const score = () => client.zscore(`${space}:{name}`, 'n');
      await expect.poll(score).not.toBeNull();
      const before = await score();
      for (const send of late) await send();
      expect(await score()).toBe(before);
    },
  );

  it('the history of 100 versions of 100 kB is read without their payloads', async () => {
    const backend = backendIn('{history}', { keepVersions: 100 });
    const load = (): string => 'x'.repeat(100_000);
    const prices = new RefreshingValue({ name: 'prices', backend, logger: false, load });
    const sent = async (): Promise<number> =>
      Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
    for (let at = 0; at < 100; at++) await prices.set(`${at} ${load()}`);
    const before = await sent();
    const history = await prices.history();
    expect((await sent()) - before).toBeLessThan(100_000); // with the payloads 10 MB
    expect([history.length, history.every(({ owner }) => owner !== undefined)]).toEqual([100, true]);
    expect(history.every(({ bytes }) => bytes > 100_000)).toBe(true);
    await prices.close();
  });

  it.each(['{refused}', 'refused'])(
    'a swap that is not done adds no name to the index: %s',
    async (space) => {
      const cells = new RedisCells({ client, prefix: `${space}:`, timeout: 10_000 });
      const swapOf = (name: string, before?: string) => ({
        name: `name/${name}`,
        swap: { before, after: '{}', main: undefined, adds: undefined, drops: [], keepForMs: 60_000 },
      });
      for (const name of ['a', 'b']) {
        const { answers } = await cells.swap([swapOf(`not ${name}`, '[]'), swapOf(name)]);
        expect(answers).toMatchObject([{ isDone: false, text: undefined }, { isDone: true }]);
      }
      await expect.poll(() => client.zrange(`${space}:{name}`, '0', '-1')).toEqual(['a', 'b']);
    },
  );

  it('a key that is not a hash is alone with that', async () => {
    const lock = lockIn('{mixed}');
    await client.set('{mixed}:name/b', 'not ours');
    const ended = await Promise.allSettled(['a', 'b', 'c'].map((name) => lock.acquire({ name })));
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await lock.list()).map(({ name }) => name)).toEqual(['a', 'c']);
    expect(await client.get('{mixed}:name/b')).toBe('not ours');
    expect(await client.zrange('{mixed}:{name}', '0', '-1')).toEqual(['a', 'c']);
  });
});

/** Those that the docstring of a function lists. */
function listedRights(): string[] {
  const source = readFileSync(new URL('../../../src/backends/redis.ts', import.meta.url), 'utf8');
  const [listed = ''] = /user needs the rights for[^/]*?\n \*\n/.exec(source) ?? [];
  return Array.from(listed.matchAll(/`(\w+)`/g), ([, right]) => `+${right}`);
}
