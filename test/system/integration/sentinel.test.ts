import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisBackendOptions, redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { backendConformance } from './support/backend-conformance.ts';
import { type Backend, redis } from './support/backends.ts';
import { expectNoneWentBack, follow, furtherOn } from './support/follow.ts';
import { freePort } from './support/ports.ts';
import { type RealServer, SENTINEL_NAME, startRedis, startSentinel } from './support/servers.ts';

const HOUR_MS = 3_600_000;

/** The client of an instance: of which package, whether it is connected, how it is closed. */
interface Connected {
  readonly client: RedisBackendOptions['client'];
  readonly isReady: () => boolean;
  readonly close: () => unknown;
}

const clients: Readonly<Record<string, (port: number) => Connected>> = {
  ioredis: (port) => {
    const client = new Redis({
      sentinels: [{ host: '127.0.0.1', port }],
      name: SENTINEL_NAME,
      ...{ enableOfflineQueue: false, connectTimeout: 1000, commandTimeout: 3000, socketTimeout: 5000 },
    });
    client.on('error', () => {});
    return { client, isReady: () => client.status === 'ready', close: () => client.disconnect() };
  },
  'node-redis': (port) => {
    const client = createSentinel({
      name: SENTINEL_NAME,
      sentinelRootNodes: [{ host: '127.0.0.1', port }],
      reserveClient: true,
      nodeClientOptions: {
        disableOfflineQueue: true,
        socket: { connectTimeout: 1000, socketTimeout: 5000 },
      },
    });
    client.on('error', () => {});
    client.connect().catch(() => {});
    return { client, isReady: () => client.isReady, close: () => client.destroy() };
  },
};

/** A primary, a replica, and a sentinel that makes the replica the primary when the primary is killed. */
describe.each(Object.entries(clients))('Redis Sentinel with %s', (_, connect) => {
  const closings: (() => unknown)[] = [];
  let primary: RealServer;
  let replica: Redis;
  let direct: Redis;
  let sentinelPort: number;

  beforeAll(async () => {
    primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    closings.push(() => primary.close());
    direct = new Redis(primary.url);
    direct.on('error', () => {});
    closings.push(() => direct.disconnect());
    const follower = await startRedis({ args: ['--replicaof', '127.0.0.1', `${primary.port}`] });
    closings.push(() => follower.close());
    replica = new Redis(follower.url);
    closings.push(() => replica.disconnect());
    while (!(await replica.info('replication')).includes('master_link_status:up')) await sleep(20);
    const sentinel = await startSentinel(primary.port);
    closings.push(() => sentinel.close());
    sentinelPort = sentinel.port;
    const watcher = new Redis(sentinel.url);
    closings.push(() => watcher.disconnect());
    const knowsReplica = async () =>
      ((await watcher.call('sentinel', 'replicas', SENTINEL_NAME)) as unknown[]).length === 1;
    while (!(await knowsReplica())) await sleep(20);
  });
  afterAll(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });

  /** An instance of a service, with a client of its own. */
  function open() {
    const { client, isReady, close } = connect(sentinelPort);
    // A release that the replica has not received leaves a lease of a round until it ends.
    const lock = lockOf(redisBackend({ client, leaseFor: 2000 }));
    const store = storeOf(redisBackend({ client }));
    closings.push(close);
    return { isReady, lock, store };
  }

  it('loading goes on, no version goes back, and what the replica had not received is lost', async () => {
    const [one, another] = [open(), open()];
    for (const { isReady } of [one, another]) while (!isReady()) await sleep(20);
    const often = [one, another].map(follow);
    closings.push(...often.map(({ end }) => end));
    await furtherOn(often);

    // What the replica has received.
    const rare = [one, another].map((backend) => {
      let loads = 0;
      const value = new RefreshingValue({
        ...{ name: 'rare', load: () => ++loads, schedule: HOUR_MS, logger: false as const, backend },
      });
      closings.push(() => value.close());
      return value;
    });
    for (const value of rare) expect(await value.get()).toBe(1);
    const kept = await leaseOf(one.lock, { name: 'kept', leaseFor: HOUR_MS });
    await direct.set('barrier', ''); // `wait` is for what its own client has written, and all before that
    expect(await direct.wait(1, 10_000)).toBe(1);
    const version = rare[0]?.inspect().lock?.version;

    // What it has not: it looks for its primary elsewhere.
    await replica.replicaof('127.0.0.1', await freePort());
    const lost = await leaseOf(one.lock, { name: 'lost', leaseFor: HOUR_MS });
    expect(await rare[0]?.refresh()).toBe(2);
    const newest = rare[0]?.inspect().lock?.version ?? 0;
    expect((await one.store.read('rare'))?.version).toBe(newest);

    await furtherOn(often);
    await primary.kill();
    const isBack = async ({ lock }: typeof one): Promise<boolean> =>
      lock.inspect('kept').then(
        () => true,
        () => false,
      );
    for (const each of [one, another]) await expect.poll(() => isBack(each)).toBe(true);

    // A lease that the replica had is kept, one that it had not is not promised: the next one has a higher token.
    expect(await another.lock.acquire({ name: 'kept' })).toMatchObject({ kind: 'held' });
    expect(await one.lock.extend(kept, HOUR_MS)).toBe(true);
    expect((await leaseOf(another.lock, { name: 'lost' })).token).toBeGreaterThan(lost.token);
    expect(await one.lock.extend(lost, HOUR_MS)).toBe(false);

    // The store is behind the instance, which keeps what it has; what it publishes is newer than all before.
    expect((await another.store.read('rare'))?.version).toBe(version);
    expect(await rare[0]?.get()).toBe(2);
    const published = async (): Promise<number> => {
      await rare[1]?.refresh(); // without the lock, until its pause after the outage is over
      return rare[1]?.inspect().lock?.version ?? 0;
    };
    await expect.poll(published).toBeGreaterThan(newest);
    expect((await one.store.read('rare'))?.version).toBeGreaterThan(newest);

    // Both follow to versions of the new primary, and neither has gone back.
    await furtherOn(often);
    await expectNoneWentBack(often);
  });
});

const sentinelClient: Backend = {
  ...{ name: 'node-redis', engine: 'redis' },
  async connect(url) {
    const { hostname: host, port } = new URL(url);
    const client = createSentinel({
      name: SENTINEL_NAME,
      sentinelRootNodes: [{ host, port: Number(port) }],
      reserveClient: true,
    });
    client.on('error', () => {});
    await client.connect().catch(() => {});
    return {
      ...redis(client),
      close: () => client.close(),
      destroy: () => {
        if (client.isOpen) void client.destroy();
      },
    };
  },
};

describe('the sentinel client of node-redis', () => {
  let primary: RealServer;
  let sentinel: RealServer<'sentinel'>;
  beforeAll(async () => {
    primary = await startRedis();
    sentinel = await startSentinel(primary.port);
  });
  afterAll(() => Promise.all([sentinel?.close(), primary?.close()]));

  backendConformance(sentinelClient, () => sentinel.url);

  it('says that it is closed', async () => {
    const client = createSentinel({
      name: SENTINEL_NAME,
      sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
    });
    client.on('error', () => {});
    const lock = lockOf(redisBackend({ client }));
    await expect(lock.acquire({ name: 'a' })).rejects.toThrow('The client is closed');
    await expect(lock.list()).rejects.toThrow('The client is closed');
  });
});
