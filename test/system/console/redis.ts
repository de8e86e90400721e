import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { redisBackend } from '../../../src/backends/redis.ts';
import type { Backend } from '../../../src/index.ts';

/** A server of its own, reached by a socket in a folder of its own. */
export interface RedisServer {
  /** For one more instance, with a connection of its own. */
  readonly backends: () => Backend;
  /** It answers no more, and keeps its connections. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tickless-console-'));
  const path = join(folder, 'redis.sock');
  const settings = ['--port', '0', '--unixsocket', path, '--save', '', '--maxmemory-policy', 'noeviction'];
  const server: ChildProcess = spawn('redis-server', settings, { cwd: folder, stdio: 'ignore' });
  const clients: Redis[] = [];
  const connect = (): Redis => {
    const client = new Redis({ path, commandTimeout: 1000, retryStrategy: () => 100 });
    client.on('error', () => {});
    clients.push(client);
    return client;
  };
  await connect().ping();
  return {
    backends: () => {
      const client = connect();
      return redisBackend({ client, keepVersions: 10 });
    },
    pause: async () => void server.kill('SIGSTOP'),
    resume: async () => void server.kill('SIGCONT'),
    stop: async () => {
      for (const client of clients) client.disconnect();
      const exit = once(server, 'exit');
      server.kill('SIGKILL');
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
