import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { allOrNone } from './all-or-none.ts';
import { startRedis } from './redis.ts';
import type { RealServer } from './server.ts';

/** A Redis Cluster whose nodes are all primaries, each with as many slots as the others. */
export interface RedisCluster {
  readonly nodes: readonly RealServer[];
  /** The addresses of all nodes: `redis://127.0.0.1:1,127.0.0.1:2`. */
  readonly url: string;
  close(): Promise<void>;
}

const SLOTS = 16_384;

/** Starts one, of three nodes. */
export async function startRedisCluster(count = 3): Promise<RedisCluster> {
  const starts = Array.from({ length: count }, () => startRedis({ isCluster: true }));
  const { all: nodes, close } = await allOrNone(starts);
  try {
    await join(nodes);
  } catch (error) {
    await close();
    throw error;
  }
  return { nodes, url: `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, close };
}

async function join(nodes: readonly RealServer[]): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url));
  const [first] = nodes;
  try {
    await Promise.all(
      clients.map(async (client, i) => {
        const from = Math.ceil((i * SLOTS) / nodes.length);
        const to = Math.ceil(((i + 1) * SLOTS) / nodes.length) - 1;
        await client.call('cluster', 'set-config-epoch', `${i + 1}`);
        await client.call('cluster', 'addslotsrange', `${from}`, `${to}`);
        // Its other port is that of its clients and 10,000.
        if (i > 0) await client.call('cluster', 'meet', '127.0.0.1', `${first?.port}`);
      }),
    );
    for (const client of clients) {
      const knowsAll = async (): Promise<boolean> => {
        const info = String(await client.cluster('INFO'));
        return info.includes('cluster_state:ok') && info.includes(`cluster_size:${nodes.length}`);
      };
      while (!(await knowsAll())) await sleep(20); // until the hook's own timeout
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}
