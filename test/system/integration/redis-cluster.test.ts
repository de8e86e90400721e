import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingCache } from '../../../src/index.ts';
import type { BackendOptions } from '../../../src/records/backend-options.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { backendConformance } from './support/backend-conformance.ts';
import { type Backend, redis } from './support/backends.ts';
import { type RedisCluster, startRedisCluster } from './support/servers.ts';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster?.close());

/** The addresses of a url. */
const addresses = (url: string): string[] => url.replace('redis://', '').split(',');
const ignore = (): void => {};

function connectIoredis(url: string): Cluster {
  const client = new Cluster(addresses(url).map((address) => `redis://${address}`));
  client.on('error', ignore);
  return client;
}

async function connectNodeRedis(url: string) {
  const client = createCluster({
    rootNodes: addresses(url).map((address) => ({ url: `redis://${address}` })),
  });
  client.on('error', ignore);
  await client.connect().catch(ignore);
  return client;
}

const withIoredis: Backend = {
  ...{ name: 'ioredis', engine: 'redis' },
  async connect(url) {
    const client = connectIoredis(url);
    return {
      ...redis(client),
      close: () => client.quit(),
      destroy: () => client.disconnect(),
    };
  },
};

const withNodeRedis: Backend = {
  ...{ name: 'node-redis', engine: 'redis' },
  async connect(url) {
    const client = await connectNodeRedis(url);
    return {
      ...redis(client),
      close: () => client.close(),
      destroy: () => {
        if (client.isOpen) client.destroy();
      },
    };
  },
};

describe.each([withIoredis, withNodeRedis])('a Redis Cluster of three nodes with $name', (backend) => {
  backendConformance(backend, () => cluster.url);
});

describe.each([
  ['ioredis', async () => connectIoredis(cluster.url)],
  ['node-redis', () => connectNodeRedis(cluster.url)],
])('the slots of a Redis Cluster with %s', (name, connect) => {
  const KEYS = Array.from({ length: 50 }, (_, i) => `${i}`);
  let client: Awaited<ReturnType<typeof connect>>;
  let space: string;
  beforeAll(async () => {
    client = await connect();
    space = `slots-${name}`;
  });
  afterAll(() => (client instanceof Cluster ? client.disconnect() : client?.destroy()));

  /** How many keys that begin so each node has. */
  async function spread(prefix: string): Promise<number[]> {
    const { Redis } = await import('ioredis');
    return Promise.all(
      cluster.nodes.map(async ({ url }) => {
        const node = new Redis(url);
        const keys = await node.keys(`${prefix}*`);
        node.disconnect();
        return keys.length;
      }),
    );
  }

  /** @param open makes one more cache. */
  function cachesIn(prefix: string, options: BackendOptions = {}) {
    const backend = redisBackend({ client, prefix: `${prefix}:`, ...options });
    const loaded: string[] = [];
    const loadMany = async (keys: readonly string[]): Promise<Map<string, string>> => {
      loaded.push(...keys);
      return new Map(keys.map((key) => [key, key]));
    };
    const shared = { backend, schedule: { hours: 1 }, timeout: 60_000 };
    const open = (name = 'c') => new RefreshingCache({ ...shared, name, loadMany, logger: false });
    return { open, lock: lockOf(backend), store: storeOf(backend), loaded };
  }

  it.each([
    ['many slots', '', 3],
    ['one slot, by a hash tag', '{tag}', 1],
  ])('keys that are due together are loaded once, published and adopted: %s', async (_, tag, nodes) => {
    const { open, lock, loaded } = cachesIn(`${space}${tag}`, { timeout: 10_000 });
    const [one, another] = [open(), open()];
    expect((await one.getMany(KEYS)).size).toBe(KEYS.length);
    await one.close(); // the leases are released behind the reads
    expect((await another.getMany(KEYS)).size).toBe(KEYS.length);
    await another.close();
    expect(loaded).toHaveLength(KEYS.length);
    const listed = async (): Promise<string[]> =>
      (await lock.list()).map(({ name, state }) => `${name} ${state}`);
    await expect.poll(listed).toEqual(KEYS.map((key) => `c["${key}"] done`).sort()); // the names of all nodes

    const found = await spread(`${space}${tag}:name/c`);
    expect(found.reduce((sum, count) => sum + count)).toBe(KEYS.length);
    expect(found.filter((count) => count > 0)).toHaveLength(nodes);
  });

  it('a node that does not answer fails its own names alone', async () => {
    const { open, lock, store, loaded } = cachesIn(`${space}:frozen`);
    const names = ['c', 'd', 'e', 'f', 'g', 'h'];
    for (const name of names) {
      const one = open(name);
      await one.getMany(KEYS);
      await one.close();
    }
    const failed = async (
      of: readonly string[],
      step: (one: string) => Promise<unknown>,
    ): Promise<string[]> => {
      const ended = await Promise.allSettled(of.map(step));
      return of.filter((_, i) => ended[i]?.status === 'rejected');
    };
    loaded.length = 0;
    cluster.nodes[2]?.freeze();
    try {
      const unknown = await failed(names, (name) => store.read(name));
      const name = names.find((one) => !unknown.includes(one)) as string; // the marks of this cache can be read
      const another = open(name);
      const lost = await failed(KEYS, (key) => store.read(`${name}["${key}"]`));
      const locked = await failed(KEYS, (key) => lock.acquire({ name: `another ${key}` }));
      for (const some of [lost, locked]) {
        expect(some.length).toBeGreaterThan(5); // of 50, on one node of three
        expect(some.length).toBeLessThan(30);
      }
      const [sound] = KEYS.filter((key) => !lost.includes(key));
      await another.getMany([...new Set([sound as string, ...KEYS])]); // the first one is asked for before the others
      expect([...new Set(loaded)].sort()).toEqual(lost.sort());
      void another.close();
    } finally {
      cluster.nodes[2]?.thaw();
    }
  });
});
