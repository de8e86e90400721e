import { Redis } from 'ioredis';
import { createPool as createCallbackPool } from 'mysql2';
import { createConnection, createPool } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MysqlClient, mysqlBackend } from '../../../src/backends/mysql.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';
import { type FaultProxy, startProxy } from './support/proxy.ts';
import { type RealServer, startMariadb, startRedis } from './support/servers.ts';

// A fail-over behind one name: the old primary stays up and takes no writes, and new connections reach the new one.

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

let tables = 0;

/** The name of a cluster. */
async function endpointOf(primary: RealServer): Promise<FaultProxy> {
  const proxy = await startProxy(primary);
  ended.push(() => proxy.close());
  return proxy;
}

/** Each step fails at most as often as there are connections to the old primary. */
async function expectBack(lock: Lock, store: Store, connections: number): Promise<void> {
  let failures = 0;
  for (let i = 0; i < connections + 3; i += 1) {
    await lock.acquire({ name: `after ${i}` }).catch(() => {
      failures += 1;
    });
  }
  expect(failures).toBeLessThanOrEqual(connections);
  expect(await lock.acquire({ name: 'last' })).toMatchObject({ kind: 'acquired' });
  expect(await store.write('last', 'payload')).toMatchObject({ kind: 'written' });
}

describe('MariaDB', () => {
  const CONNECTIONS = 3;
  const servers: RealServer[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 2; i += 1) servers.push(await startMariadb());
    for (const { url } of servers) {
      const admin = await createConnection(url);
      // A user without the right to write nonetheless.
      await admin.query("CREATE USER app IDENTIFIED BY 'p'");
      await admin.query('GRANT ALL ON tickless.* TO app');
      await admin.end();
    }
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  it.each<[string, (uri: string) => { client: MysqlClient; end: () => unknown }]>([
    [
      'a pool of promises',
      (uri) => {
        const pool = createPool({ uri, connectionLimit: CONNECTIONS });
        return { client: pool, end: () => pool.end() };
      },
    ],
    [
      'a pool of callbacks',
      (uri) => {
        const pool = createCallbackPool({ uri, connectionLimit: CONNECTIONS });
        return { client: pool, end: () => pool.promise().end() };
      },
    ],
  ])('%s leaves a server that has become read-only', async (_, open) => {
    const [old, fresh] = servers as [RealServer, RealServer];
    const admin = await createConnection(old.url);
    ended.push(() => admin.end());
    await admin.query('SET GLOBAL read_only = 0');
    const endpoint = await endpointOf(old);
    const { client, end } = open(endpoint.url.replace('root@', 'app:p@'));
    ended.push(end);
    const table = `t${++tables}`;
    const [lock, store] = [lockOf(mysqlBackend({ client, table })), storeOf(mysqlBackend({ client, table }))];
    const names = Array.from({ length: CONNECTIONS }, (__, i) => `before ${i}`);
    await lock.inspect('table');
    await Promise.all(names.map((name) => lock.acquire({ name }))); // all connections are open
    await admin.query('SET GLOBAL read_only = 1');
    endpoint.moveTo(fresh);
    await expectBack(lock, store, CONNECTIONS);
  });
});

describe('Redis', () => {
  it.each([
    ['begins with', (message: string) => message.startsWith('READONLY')],
    ['includes', (message: string) => message.includes('READONLY')],
  ])(
    'a client whose reconnectOnError looks whether an error %s READONLY leaves a server that has become a replica',
    async (_, isOfReplica) => {
      const [old, fresh] = await Promise.all([startRedis(), startRedis()]);
      for (const server of [old, fresh]) ended.push(() => server.close());
      const endpoint = await endpointOf(old);
      const seen: string[] = [];
      const client = new Redis(endpoint.url, {
        reconnectOnError: ({ message }) => {
          seen.push(message);
          return isOfReplica(message) ? 2 : false;
        },
      });
      client.on('error', () => {});
      ended.push(() => client.disconnect());
      const [lock, store] = [lockOf(redisBackend({ client })), storeOf(redisBackend({ client }))];
      await lock.acquire({ name: 'before' });
      await lock.acquire({ name: 'before too' }); // by the digest of the script
      const admin = new Redis(old.url);
      ended.push(() => admin.disconnect());
      await admin.replicaof('127.0.0.1', fresh.port);
      endpoint.moveTo(fresh);
      await expectBack(lock, store, 1);
      expect(seen.filter((message) => !/^(READONLY|NOSCRIPT) /.test(message))).toEqual([]);
    },
  );

  it('each error of a server has its own code, for one name and for several', async () => {
    const server = await startRedis();
    ended.push(() => server.close());
    const client = new Redis(server.url);
    ended.push(() => client.disconnect());
    const lock = lockOf(redisBackend({ client }));
    const store = storeOf(redisBackend({ client }));
    const error = async (step: () => Promise<unknown>): Promise<string> => {
      const { cause } = (await rejectionOf(step())) as Error;
      return (cause as Error).message;
    };
    await lock.acquire({ name: 'a' });
    await store.write('a', 'payload');
    await client.replicaof('127.0.0.1', 1);
    expect(await error(() => lock.acquire({ name: 'new' }))).toMatch(/^(READONLY|MASTERDOWN) /);
    expect(await error(() => store.write('a', 'other'))).toMatch(/^(READONLY|MASTERDOWN) /);
    await client.replicaof('NO', 'ONE');
    await client.config('SET', 'maxmemory', '1');
    expect(await error(() => lock.acquire({ name: 'new' }))).toMatch(/^OOM /);
    await client.config('SET', 'maxmemory', '0');
    await client.set('tickless:name/taken', 'of another program');
    expect(await error(() => lock.acquire({ name: 'taken' }))).toMatch(/^WRONGTYPE /);
  });
});
