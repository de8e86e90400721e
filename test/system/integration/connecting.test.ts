import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterEach, describe, expect, it } from 'vitest';
import { type RedisBackendOptions, redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { startProxy } from './support/proxy.ts';
import { startRedis, startRedisCluster } from './support/servers.ts';

// A service makes its client and reads at once. The client is connecting then: it is slow, not dead.

type Client = RedisBackendOptions['client'];
interface Opened {
  readonly client: Client;
  readonly close: () => unknown;
}

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

const IOREDIS = {
  enableOfflineQueue: false,
  connectTimeout: 1000,
  commandTimeout: 10_000,
  socketTimeout: 5000,
};
const NODE_REDIS = { disableOfflineQueue: true, pingInterval: 2000 };
const SOCKET = { connectTimeout: 1000, socketTimeout: 5000 };

const CLIENTS: Readonly<Record<string, (port: number) => Opened>> = {
  ioredis(port) {
    const client = new Redis({ port, ...IOREDIS });
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
  'ioredis with lazyConnect'(port) {
    const client = new Redis({ port, ...IOREDIS, lazyConnect: true });
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
  'node-redis'(port) {
    const client = createClient({ ...NODE_REDIS, socket: { port, ...SOCKET } });
    client.on('error', () => {});
    client.connect().catch(() => {});
    return { client, close: () => client.destroy() };
  },
};

const CLUSTERS: Readonly<Record<string, (port: number) => Opened>> = {
  'a cluster of ioredis'(port) {
    const client = new Cluster([{ host: '127.0.0.1', port }], {
      enableOfflineQueue: false,
      redisOptions: IOREDIS,
    });
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
  'a cluster of node-redis'(port) {
    const client = createCluster({
      rootNodes: [{ socket: { host: '127.0.0.1', port } }],
      defaults: { ...NODE_REDIS, socket: SOCKET },
    });
    client.on('error', () => {});
    client.connect().catch(() => {});
    return { client: client as unknown as Client, close: () => client.destroy() };
  },
};

/** Instances that read as soon as they are made. @returns how often they have loaded, and what they have logged. */
async function deploy(count: number, open: (port: number) => Opened, port: number) {
  let loads = 0;
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const values = Array.from({ length: count }, () => {
    const { client, close } = open(port);
    ended.push(close);
    const value = new RefreshingValue({
      name: 'deployed',
      load: () => ++loads,
      backend: redisBackend({ client }),
      logger: { warn: line, error: line },
    });
    ended.push(() => value.close());
    return value;
  });
  const read = await Promise.all(values.map((value) => value.get()));
  return { loads, lines, read };
}

describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
  it('instances that read while they connect load once, and log nothing', async () => {
    const server = await startRedis();
    ended.push(() => server.close());
    const proxy = await startProxy(server);
    ended.push(() => proxy.close());
    proxy.latencyMs = 50;
    const port = Number(new URL(proxy.url).port);
    expect(await deploy(5, open, port)).toMatchObject({ loads: 1, lines: [], read: [1, 1, 1, 1, 1] });
  });
});

describe.each(Object.entries(CLUSTERS))('%s', (_, open) => {
  it('instances that read while they connect load once, and log nothing', async () => {
    const cluster = await startRedisCluster();
    ended.push(() => cluster.close());
    const port = cluster.nodes[0]?.port as number;
    expect(await deploy(3, open, port)).toMatchObject({ loads: 1, lines: [], read: [1, 1, 1] });
  });
});
