import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { mysqlStore } from '../../../src/store/mysql.ts';
import { postgresStore } from '../../../src/store/postgres.ts';
import { type SqliteClient, sqliteStore } from '../../../src/store/sqlite.ts';

// What the conformance suite can't see of the table of reports.

const report = { instance: 'i', text: '[]', keepFor: 60_000 };

describe('SQLite', () => {
  const client = new Database(':memory:');
  afterAll(() => client.close());

  it('a report is lost where its table can not be created, and no version is', async () => {
    const statements: string[] = [];
    const prepare: SqliteClient['prepare'] = (sql) => {
      statements.push(sql);
      if (/CREATE TABLE .*_fleet/.test(sql)) throw new Error('attempt to write a readonly database');
      return client.prepare(sql);
    };
    const store = sqliteStore({ client: { prepare }, table: 'no_right' });
    await store.write('a', 'payload', 7);
    expect(await store.versions(['a', 'none'], report)).toEqual([7, 0]);
    statements.length = 0;
    expect(await store.versions(['a'], report)).toEqual([7]);
    expect(statements).toHaveLength(1); // it is not tried again for ten minutes
    await expect(store.reports()).rejects.toThrow(
      /the table is missing and can't be created \(sqliteFleetTable\(\) returns its definition\)/,
    );
  });

  it('a report gives up soon behind a read while another connection is writing', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tickless-reports-')), 'shared.db');
    const [reader, writer] = [new Database(file, { timeout: 0 }), new Database(file)];
    writer.pragma('journal_mode = WAL');
    const store = sqliteStore({ client: reader });
    await store.write('a', 'payload', 7, undefined, undefined, report);
    writer.exec('BEGIN IMMEDIATE');
    expect(await store.read('a', undefined, undefined, { ...report, text: 'lost' })).toMatchObject({
      version: 7,
    });
    writer.exec('COMMIT');
    expect(await store.reports()).toMatchObject([{ text: '[]' }]);
    for (const one of [reader, writer]) one.close();
  });

  it('so it is where the name of the table leaves no room for another', async () => {
    const store = sqliteStore({ client, table: 't'.repeat(63) });
    await store.write('a', 'payload', 7);
    expect(await store.versions(['a'], report)).toEqual([7]);
    await expect(store.reports()).rejects.toThrow('must have at most 63 characters');
  });

  it('reports that have expired are deleted behind others, and a thousand are listed', async () => {
    const table = 'reported';
    const count = () => client.prepare(`SELECT name FROM ${table}_fleet`).all().length;
    const open = () => sqliteStore({ client, table });
    await open().versions([], { ...report, keepFor: 1 });
    await vi.waitFor(async () => {
      await open().versions([], { ...report, instance: 'kept' }); // a new object purges after its first report
      expect(count()).toBe(1);
    });
    const store = open();
    for (let i = 0; i < 1001; i += 1) await store.versions([], { ...report, instance: `${i}` });
    expect([count(), (await store.reports()).length]).toEqual([1002, 1000]);
  });

  it('more names than one statement takes are several', async () => {
    const store = sqliteStore({ client, table: 'many_names' });
    const names = Array.from({ length: 10_001 }, (_, i) => `name ${i}`);
    for (const i of [0, 5000, 10_000]) await store.write(names[i] as string, 'payload', i + 1);
    const versions = await store.versions(names, report);
    expect(versions.filter((version) => version > 0)).toEqual([1, 5001, 10_001]);
    expect(await store.reports()).toHaveLength(1);
  });
});

/** Stores of one table, as many as there are instances. */
const OPENED = [
  {
    name: 'SQLite',
    open: async () => {
      const client = new Database(':memory:');
      return {
        store: () => sqliteStore({ client, table: 'crowd' }),
        run: async (sql: string) => {
          const statement = client.prepare(sql);
          return statement.reader ? statement.all() : [statement.run()];
        },
        close: async () => void client.close(),
      };
    },
  },
  {
    name: 'PostgreSQL',
    open: async () => {
      const client = new pg.Pool({ connectionString: inject('postgres').url });
      const table = `crowd_${process.pid}`;
      return {
        store: () => postgresStore({ client, table }),
        run: async (sql: string) => (await client.query(sql.replaceAll('crowd', table))).rows,
        close: () => client.end(),
      };
    },
  },
  {
    name: 'MariaDB',
    open: async () => {
      const client = createPool(inject('mariadb').url);
      const table = `crowd_${process.pid}`;
      return {
        store: () => mysqlStore({ client, table }),
        run: async (sql: string) => (await client.query(sql.replaceAll('crowd', table)))[0] as unknown[],
        close: () => client.end(),
      };
    },
  },
];

it.each(OPENED)(
  '$name: instances that come and go leave a thousand rows, however long their reports last',
  async ({ open }) => {
    const { store, run, close } = await open();
    const names = async () =>
      (await run('SELECT name FROM crowd_fleet')).map((row) => (row as { name: string }).name);
    const instances = Array.from({ length: 1300 }, (_, i) => `${i}`.padStart(4, '0'));
    for (let i = 0; i < instances.length; i += 20) {
      const some = instances.slice(i, i + 20);
      await Promise.all(
        some.map((instance) => store().versions([], { ...report, instance, keepFor: 7 * 86_400_000 })),
      );
    }
    await vi.waitFor(async () => expect((await names()).length).toBeLessThanOrEqual(1000), 10_000);
    expect((await names()).filter((name) => name >= '/1200')).toHaveLength(100); // the oldest have made room
    await store().versions([], { ...report, instance: 'last' });
    expect((await store().reports()).map(({ instance }) => instance)).toContain('last');
    await run('DROP TABLE crowd_fleet');
    await close();
  },
  60_000,
);

/** A user that may use the table of the snapshots, and create none. */
const RESTRICTED = [
  {
    name: 'PostgreSQL',
    url: inject('postgres').url,
    grants: (space: string) => [
      `CREATE USER ${space} PASSWORD 'secret'`,
      `GRANT USAGE ON SCHEMA ${space} TO ${space}`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${space} TO ${space}`,
    ],
    connect: async (url: string) => {
      const client = new pg.Pool({ connectionString: url });
      const open = (table: string) => postgresStore({ client, table });
      return { open, run: (sql: string) => client.query(sql), close: () => client.end() };
    },
    reason: /postgresFleetTable\(\) returns its definition\): permission denied/,
  },
  {
    name: 'MariaDB',
    url: inject('mariadb').url,
    grants: (space: string) => [
      `CREATE USER ${space} IDENTIFIED BY 'secret'`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${space}.snapshots TO ${space}`,
    ],
    connect: async (url: string) => {
      const client = createPool(url);
      const open = (table: string) => mysqlStore({ client, table });
      return { open, run: (sql: string) => client.query(sql), close: () => client.end() };
    },
    reason: /SELECT command denied to user .*snapshots_fleet/,
  },
];

it.each(RESTRICTED)(
  '$name: without rights for its table a report is lost, and no version is',
  async (engine) => {
    const { url, grants, connect, reason } = engine;
    const space = `reports_${process.pid}`;
    const owner = await connect(url);
    await owner.run(`CREATE SCHEMA ${space}`);
    await owner.open(`${space}.snapshots`).write('a', 'payload', 7);
    for (const grant of grants(space)) await owner.run(grant);
    const own = Object.assign(new URL(url), { username: space, password: 'secret' });
    if (engine.name === 'MariaDB') own.pathname = space; // its databases are schemas
    const user = await connect(String(own));
    const store = user.open(`${space}.snapshots`);
    expect(await store.versions(['a'], report)).toEqual([7]);
    await expect(store.reports()).rejects.toThrow(reason);
    await Promise.all([user.close(), owner.close()]);
  },
);
