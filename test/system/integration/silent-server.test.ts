import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { type Backend, RefreshingValue } from '../../../src/index.ts';
import { freePort } from './support/ports.ts';

// A server that accepts connections and never answers. The clients have the settings of docs/cluster.md.

/** On top of the one time-out of a second: the machine is busy. */
const ROOM_MS = 700;

interface Connected {
  readonly backend: Backend;
  /** Ends the client, if it would connect again. */
  end(): unknown;
}

const SETTINGS = {
  ioredis: { enableOfflineQueue: false, connectTimeout: 1000, commandTimeout: 10_000, socketTimeout: 5000 },
  'node-redis': {
    disableOfflineQueue: true,
    pingInterval: 2000,
    socket: { connectTimeout: 1000, socketTimeout: 5000 },
  },
  pg: { connectionTimeoutMillis: 10_000, query_timeout: 10_000, keepAlive: true },
  mysql2: { connectTimeout: 1000, enableKeepAlive: true },
} as const;

type Name = keyof typeof SETTINGS;

/** @param settings `false`: the client's own defaults. */
type Connect = (port: number, settings: boolean) => Connected;

const host = '127.0.0.1';
const account = { host, user: 'u', database: 'd' };

const clients: Readonly<Record<Name, Connect>> = {
  ioredis(port, settings) {
    const client = new Redis({ port, host, ...(settings && SETTINGS.ioredis) });
    client.on('error', () => {});
    return { backend: redisBackend({ client }), end: () => client.disconnect() };
  },
  'node-redis'(port, settings) {
    const { socket, ...own } = settings ? SETTINGS['node-redis'] : { socket: {} };
    const client = createClient({ ...own, socket: { port, host, ...socket } });
    client.on('error', () => {});
    client.connect().catch(() => {});
    return { backend: redisBackend({ client }), end: () => client.destroy() };
  },
  pg(port, settings) {
    const client = new pg.Pool({ port, ...account, ...(settings && SETTINGS.pg) });
    client.on('error', () => {});
    return { backend: postgresBackend({ client }), end: () => {} };
  },
  mysql2(port, settings) {
    const client = createPool({ port, ...account, ...(settings && SETTINGS.mysql2) });
    return { backend: mysqlBackend({ client }), end: () => {} };
  },
};

let server: Server;
const sockets = new Set<Socket>();

beforeEach(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

describe.each(Object.keys(SETTINGS) as Name[])('%s', (name) => {
  it.each([
    ['the documented settings', true],
    ['its defaults', false],
    ['the documented settings, and nobody there', true],
  ])('with %s: a cold read waits for one time-out, later ones do not wait', async (what, settings) => {
    const { port } = server.address() as AddressInfo;
    const { backend, end } = clients[name](what.endsWith('there') ? await freePort() : port, settings);
    try {
      await sleep(100); // the client has connected, as far as it can
      const waits: number[] = [];
      for (let i = 0; i < 6; i++) {
        const value = new RefreshingValue({
          name: `v${i}`,
          load: () => i,
          logger: false,
          backend,
        });
        const begun = performance.now();
        expect(await value.get()).toBe(i);
        waits.push(performance.now() - begun);
      }
      const [first = Number.NaN, ...later] = waits;
      expect({ first, isInTime: first < 1000 + ROOM_MS }).toMatchObject({ isInTime: true });
      expect({ later, areAtOnce: Math.max(...later) < ROOM_MS / 2 }).toMatchObject({ areAtOnce: true });
    } finally {
      await end();
    }
  });

  it('has these settings in the documentation', () => {
    const page = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8');
    const settings = (options: object): string[] =>
      Object.entries(options).flatMap(([option, value]) =>
        typeof value === 'object' ? settings(value as object) : [`${option}: ${value}`],
      );
    for (const setting of settings(SETTINGS[name])) expect(page).toContain(setting);
  });
});
