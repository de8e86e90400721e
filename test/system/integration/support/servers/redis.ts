import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { countRedisCommands } from './count-redis.ts';
import type { Kind } from './kind.ts';
import { program, versionOf } from './programs.ts';
import type { RealServer, StartOptions } from './server.ts';
import { startServer } from './server-process.ts';

/** How a Redis is started. */
export interface RedisOptions extends StartOptions {
  /** Writes each command to a file before it answers. @default false: after a restart it has forgotten all */
  readonly keepsData?: boolean;
  /** Is a cluster of its own; its slots are to be added by hand. @default false */
  readonly isCluster?: boolean;
}

/** Starts a Redis. */
export async function startRedis({
  keepsData = false,
  isCluster = false,
  ...options
}: RedisOptions = {}): Promise<RealServer> {
  return startServer(await redisKind(keepsData, isCluster), options);
}

async function redisKind(keepsData: boolean, isCluster: boolean): Promise<Kind> {
  const file = program('redis-server');
  return {
    kind: 'redis',
    label: 'Redis',
    version: await versionOf(file),
    keepsData,
    saysReady: /Ready to accept connections/,
    async initialise({ directory }) {
      await mkdir(join(directory, 'data'));
    },
    command({ directory, port }) {
      const data = join(directory, 'data');
      const persistence = keepsData ? ['--appendonly', 'yes', '--appendfsync', 'no'] : ['--appendonly', 'no'];
      const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', data, '--save', '', ...persistence];
      if (isCluster) args.push('--cluster-enabled', 'yes');
      return { file, args };
    },
    url: ({ port }) => `redis://127.0.0.1:${port}`,
    count: ({ port }) => countRedisCommands(port),
  };
}
