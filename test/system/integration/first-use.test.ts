import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { sqliteBackend, sqliteTable } from '../../../src/backends/sqlite.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { expectAnswers } from './support/answers.ts';
import { backends, type Connected } from './support/backends.ts';

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

  it('of a table that is not there each step answers that there is nothing', async () => {
    const client = clients[0] as Connected;
    const lock = (step: string): Lock => client.lock(space(step, index));
    const lease = { name: 'none', requestId: 'none', token: 1 };
    expect(await lock('inspect').inspect('none')).toBeUndefined();
    expect(await lock('list').list()).toEqual([]);
    expect(await lock('extend').extend(lease)).toBe(false);
    expect(await lock('release').release(lease, { as: 'abandoned' })).toBe(false);
    expect(await lock('forceRelease').forceRelease('none', 1)).toBe(false);
  });
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
    const lock = lockOf(sqliteBackend({ client, table: 'locks' }));
    await expectAnswers({
      lock,
      store: storeOf(sqliteBackend({ client, table: 'stores', keepVersions: 3 })),
    });
    expect(client.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all()).toEqual(schema);
    client.close();
  });
});

/** The documented view of one database, and where it is asked. */
interface Viewed {
  readonly name: string;
  readonly open: () => Promise<{
    readonly lock: Lock;
    /** @returns the rows of a SELECT. */
    readonly run: (sql: string) => Promise<readonly unknown[]>;
    readonly end: () => Promise<void>;
  }>;
}

const VIEWED: readonly Viewed[] = [
  {
    name: 'PostgreSQL',
    open: async () => {
      const client = new pg.Client(inject('postgres').url);
      await client.connect();
      return {
        lock: lockOf(postgresBackend({ client })),
        run: async (sql) => (await client.query(sql)).rows,
        end: () => client.end(),
      };
    },
  },
  {
    name: 'MySQL and MariaDB',
    open: async () => {
      const client = createPool(inject('mariadb').url);
      return {
        lock: lockOf(mysqlBackend({ client })),
        run: async (sql) => [(await client.query(sql))[0]].flat(),
        end: () => client.end(),
      };
    },
  },
  {
    name: 'SQLite',
    open: async () => {
      const client = new Database(':memory:');
      return {
        lock: lockOf(sqliteBackend({ client })),
        run: async (sql) => {
          const statement = client.prepare(sql);
          return statement.reader ? statement.all() : [statement.run()];
        },
        end: async () => void client.close(),
      };
    },
  },
];

it.each(VIEWED)('operators see owners and hosts by the documented view: $name', async ({ name, open }) => {
  const docs = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8');
  const [view] = new RegExp(`CREATE VIEW tickless_locks AS -- ${name}\n[^\`]*`).exec(docs) as RegExpExecArray;
  const { lock, run, end } = await open();
  const requests = ['running', 'failed'].map((name) => ({ name, owner: 'me', host: 'here' }));
  const [, failed] = await Promise.all(requests.map((request) => leaseOf(lock, request)));
  await lock.release(failed as Lease, { as: 'failed', holdFor: 1000, error: 'why' });
  await run(view);
  const select = (columns: string): Promise<readonly unknown[]> =>
    run(`SELECT ${columns} FROM tickless_locks WHERE name IN ('failed', 'running') ORDER BY name`);
  expect(await select('*')).toMatchObject([
    { name: 'failed', owner: 'me', host: 'here', state: 'failed', last_error: 'why' },
    { name: 'running', owner: 'me', host: 'here', state: 'running', last_error: null },
  ]);
  const areInOrder = { PostgreSQL: true }[name] ?? 1;
  const inOrder = await select("begun_at > '2026-01-01' AND ends_at >= begun_at AS in_order");
  expect(inOrder).toEqual([{ in_order: areInOrder }, { in_order: areInOrder }]);
  await run('DROP VIEW tickless_locks');
  await end();
});
