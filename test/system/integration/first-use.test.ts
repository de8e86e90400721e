import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { mysqlTable } from '../../../src/backends/mysql.ts';
import { postgresBackend, postgresTable } from '../../../src/backends/postgres.ts';
import { sqliteBackend, sqliteTable } from '../../../src/backends/sqlite.ts';
import type { SnapshotStore } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { backends, type Connected, lockTable, storeTable } from './support/backends.ts';

const CLIENTS = 10;
/** Each time a table that nobody knows: the first time may go well by luck. */
const TIMES = 15;

const space = (what: string, i = 0): string => `first_use_${what}_${process.pid}_${i}`;

describe.each(backends.filter(({ engine }) => engine !== 'redis'))('$name', (backend) => {
  const { url } = inject(backend.engine);
  const clients: Connected[] = [];
  const index = backends.indexOf(backend);
  beforeAll(async () => {
    for (let i = 0; i < CLIENTS; i++) clients.push(await backend.connect(url));
  });
  afterAll(() => {
    for (const client of clients) client.destroy();
  });

  it('ten clients that need a table at the same time, and there is none: all are answered', async () => {
    // Each connection is there before, or they would come one after the other.
    await Promise.all(clients.map((client) => client.lock(space('warm_up', index)).inspect('any')));
    for (let time = 0; time < TIMES; time++) {
      const [locks, stores] = [space(`locks${index}`, time), space(`stores${index}`, time)];
      const answers = await Promise.all(
        clients.map((client) => client.lock(locks).acquire({ name: 'first' })),
      );
      expect(answers.map(({ kind }) => kind).sort()).toEqual([
        'acquired',
        ...Array(CLIENTS - 1).fill('held'),
      ]);
      const written = await Promise.all(
        clients.map((client) => client.store(stores).write('first', 'payload')),
      );
      expect(new Set(written.map(({ version }) => version)).size).toBe(CLIENTS);
    }
  });

  it.each(['inspect', 'list', 'extend', 'release', 'forceRelease'] as const)(
    'a table that is not there: %s answers that there is nothing',
    async (step) => {
      const lock = (clients[0] as Connected).lock(space(step, index));
      const lease = { name: 'none', requestId: 'none', token: 1 };
      const steps = {
        inspect: async () => (await lock.inspect('none')) === undefined,
        list: async () => (await lock.list()).length === 0,
        extend: async () => !(await lock.extend(lease)),
        release: async () => !(await lock.release(lease, { as: 'abandoned' })),
        forceRelease: async () => !(await lock.forceRelease('none', 1)),
      };
      expect(await steps[step]()).toBe(true);
    },
  );
});

describe('SQLite with better-sqlite3', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-sqlite-'));
  const databases = Array.from(
    { length: CLIENTS },
    () => new Database(join(directory, 'test.db'), { timeout: 50 }),
  );
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(directory, { recursive: true });
  });

  it('ten connections that need a table at the same time, and there is none: all are answered', async () => {
    const locks = databases.map((client) => lockOf(sqliteBackend({ client })));
    const answers = await Promise.all(locks.map((lock) => lock.acquire({ name: 'first' })));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['acquired', ...Array(CLIENTS - 1).fill('held')]);
    const stores = databases.map((client) => storeOf(sqliteBackend({ client })));
    await Promise.all(stores.map((store) => store.write('first', 'payload')));
  });

  it('the documented statements make tables that are taken as they are', async () => {
    const client = new Database(':memory:');
    client.exec(sqliteTable('locks'));
    client.exec(sqliteTable('stores'));
    const schema = client.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
    await useAll(
      lockOf(sqliteBackend({ client, table: 'locks' })),
      storeOf(sqliteBackend({ client, table: 'stores' })),
    );
    expect(client.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all()).toEqual(schema);
    client.close();
  });
});

describe('a user who may not create tables', () => {
  const user = `limited_${process.pid}`;
  const ended: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ended.splice(0).reverse()) await end();
  });

  const statements = {
    postgres: {
      definition: postgresTable,
      create: `CREATE ROLE ${user} LOGIN PASSWORD 'secret'`,
      drop: `DROP OWNED BY ${user}; DROP ROLE ${user}`,
      async admin(url: string) {
        const client = new pg.Client(url);
        await client.connect();
        return client;
      },
    },
    mariadb: {
      definition: mysqlTable,
      create: `CREATE USER ${user} IDENTIFIED BY 'secret'`,
      drop: `DROP USER ${user}`,
      admin: (url: string) => createConnection(url),
    },
  } as const;

  it.each(backends.filter(({ engine }) => engine !== 'redis'))(
    '$name: works with the tables of the documented statements',
    async (backend) => {
      const {
        definition,
        create,
        drop,
        admin: connect,
      } = statements[backend.engine as keyof typeof statements];
      const { url } = inject(backend.engine);
      const admin: { query(sql: string): Promise<unknown>; end(): Promise<unknown> } = await connect(url);
      ended.push(() => admin.end());
      const own = space('ddl', backends.indexOf(backend));
      await admin.query(definition(lockTable(own)));
      await admin.query(definition(storeTable(own)));
      await admin.query(create);
      ended.push(() => admin.query(drop));
      for (const table of [lockTable(own), storeTable(own)]) {
        await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${user}`);
      }
      const limited = new URL(url);
      limited.username = user;
      limited.password = 'secret';
      const client = await backend.connect(limited.href);
      ended.push(() => client.close());
      await useAll(client.lock(own), client.store(own));
    },
  );
});

/** Every step once. */
async function useAll(lock: Lock, store: SnapshotStore): Promise<void> {
  const answer = await lock.acquire({ name: 'used' });
  if (answer.kind !== 'acquired') throw new Error(answer.kind);
  const { lease } = answer;
  expect(await lock.extend(lease)).toBe(true);
  expect(await store.write('used', 'payload', lease.token)).toMatchObject({ kind: 'written' });
  expect(await store.write('used', 'payload')).toMatchObject({ kind: 'written' });
  expect(await lock.release(lease, { as: 'failed', holdFor: 1000, error: 'why' })).toBe(true);
  expect(await lock.inspect('used')).toMatchObject({ state: 'failed', lastError: 'why' });
  expect(await lock.list()).toHaveLength(1);
  expect(await lock.forceRelease('used', lease.token)).toBe(true);
  expect(await store.read('used')).toMatchObject({ payload: 'payload' });
  expect(await store.delete('used')).toBe(true);
}

it('operators see owners and hosts by the documented view', async () => {
  const client = new pg.Client(inject('postgres').url);
  await client.connect();
  const docs = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8');
  const [view] = /CREATE VIEW tickless_locks[^`]*/.exec(docs) as RegExpExecArray;
  const lock = lockOf(postgresBackend({ client }));
  const requests = ['running', 'failed'].map((name) => ({ name, owner: 'me', host: 'here' }));
  const [, failed] = await Promise.all(requests.map((request) => lock.acquire(request)));
  if (failed?.kind !== 'acquired') throw new Error(failed?.kind);
  await lock.release(failed.lease, { as: 'failed', holdFor: 1000, error: 'why' });
  await client.query(view);
  const { rows } = await client.query(
    "SELECT * FROM tickless_locks WHERE name IN ('failed', 'running') ORDER BY name",
  );
  expect(rows).toMatchObject([
    { name: 'failed', owner: 'me', host: 'here', state: 'failed', last_error: 'why' },
    { name: 'running', owner: 'me', host: 'here', state: 'running', last_error: null },
  ]);
  await client.query('DROP VIEW tickless_locks');
  await client.end();
});
