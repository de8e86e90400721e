import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RefreshingCache } from '../../../src/index.ts';
import { redisLock } from '../../../src/lock/redis.ts';
import { redisStore } from '../../../src/store/redis.ts';
import { type RealServer, startRedis } from './support/servers.ts';

const KEYS = Array.from({ length: 50 }, (_, i) => `${i}`);

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

  function open(space: string) {
    const patient = { client, timeout: 10_000 }; // on a busy machine
    const lock = redisLock({ ...patient, prefix: `${space}:lock:` });
    const store = redisStore({ ...patient, prefix: `${space}:store:` });
    const cache = new RefreshingCache({
      ...{ name: 'c', lock, store, schedule: { hours: 1 }, timeout: 60_000, logger: false as const },
      loadMany: async (keys: readonly string[]) => new Map(keys.map((key) => [key, key])),
    });
    const states = async (): Promise<string[]> => {
      await cache.close(); // the leases are released behind the reads
      return (await lock.list()).map(({ name, state }) => `${name} ${state}`);
    };
    return { cache, states };
  }

  it.each([
    ['one slot', '{many}'],
    ['many slots', 'many'],
  ])('keys that are due together are all loaded and published: %s', async (_, space) => {
    const { cache, states } = open(space);
    expect((await cache.getMany(KEYS)).size).toBe(KEYS.length);
    expect(await states()).toEqual(KEYS.map((key) => `c["${key}"] done`).sort());
    expect(await client.keys(`${space}:store:*`)).toHaveLength(KEYS.length);
  });

  it('a key that is not a hash is alone with that', async () => {
    const { cache, states } = open('{mixed}');
    await client.set('{mixed}:lock:c["b"]', 'not ours');
    expect((await cache.getMany(['a', 'b', 'c'])).size).toBe(3);
    expect(await states()).toEqual(['c["a"] done', 'c["c"] done']);
    expect(await client.get('{mixed}:lock:c["b"]')).toBe('not ours');
  });
});
