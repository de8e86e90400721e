import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { type SqliteClient, sqliteBackend } from '../../../src/backends/sqlite.ts';
import { storeOf } from '../../support/parts.ts';

// What the conformance suite can't see of the reports and the long texts in a table.

const report = { instance: 'i', text: '[]', keepFor: 60_000 };

describe('SQLite', () => {
  const client = new Database(':memory:');
  afterAll(() => client.close());

  it('a report is lost where it can not be written, and no version is', async () => {
    const prepare: SqliteClient['prepare'] = (sql) => {
      if (sql.startsWith('UPDATE')) throw new Error('attempt to write a readonly database');
      return client.prepare(sql);
    };
    const store = storeOf(sqliteBackend({ client, table: 'no_right' }));
    await store.write('a', 'payload', 7);
    const reader = storeOf(sqliteBackend({ client: { prepare }, table: 'no_right' }));
    expect(await reader.versions(['a', 'none'], report)).toEqual([7, 0]);
    expect(await reader.reports()).toEqual([]);
  });

  it('a report gives up soon behind a check while another connection is writing', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tickless-reports-')), 'shared.db');
    const [reader, writer] = [new Database(file, { timeout: 0 }), new Database(file)];
    writer.pragma('journal_mode = WAL');
    const store = storeOf(sqliteBackend({ client: reader }));
    await store.write('a', 'payload', 7);
    await store.versions([], report);
    writer.exec('BEGIN IMMEDIATE');
    expect(await store.versions(['a'], { ...report, text: 'lost' })).toEqual([7]);
    writer.exec('COMMIT');
    expect(await store.reports()).toMatchObject([{ text: '[]' }]);
    for (const one of [reader, writer]) one.close();
  });

  it('more names than one statement takes are several', async () => {
    const store = storeOf(sqliteBackend({ client, table: 'many_names' }));
    const names = Array.from({ length: 10_001 }, (_, i) => `name ${i}`);
    for (const i of [0, 5000, 10_000]) await store.write(names[i] as string, 'payload', i + 1);
    const versions = await store.versions(names, report);
    expect(versions.filter((version) => version > 0)).toEqual([1, 5001, 10_001]);
    expect(await store.reports()).toHaveLength(1);
  });
});

/** Opens a database. */
const ENGINES = {
  async SQLite() {
    const client = new Database(':memory:');
    return {
      open: (table: string) => storeOf(sqliteBackend({ client, table })),
      run: async (sql: string) => client.prepare(sql).all(),
      close: async () => void client.close(),
    };
  },
  async PostgreSQL(connectionString = inject('postgres').url) {
    const client = new pg.Pool({ connectionString });
    return {
      open: (table: string) => storeOf(postgresBackend({ client, table, timeout: 10_000 })),
      run: async (sql: string) => (await client.query(sql)).rows,
      close: () => client.end(),
    };
  },
  async MariaDB(url = inject('mariadb').url) {
    const client = createPool(url);
    return {
      open: (table: string) => storeOf(mysqlBackend({ client, table, timeout: 10_000 })),
      run: async (sql: string) => (await client.query(sql))[0] as unknown as readonly object[],
      close: () => client.end(),
    };
  },
};

it.each(Object.entries(ENGINES))(
  '%s: the reports of instances that have gone are deleted behind those of others, and of no one else',
  async (_, connect) => {
    const { open, run, close } = await connect();
    const table = `crowd_${process.pid}`;
    const instances = Array.from({ length: 1300 }, (__, i) => `${i}`.padStart(4, '0'));
    for (let i = 0; i < instances.length; i += 20) {
      const some = instances.slice(i, i + 20);
      const keepFor = i < 1200 ? 1 : 60_000;
      await Promise.all(some.map((instance) => open(table).versions([], { ...report, instance, keepFor })));
    }
    await vi.waitFor(async () => {
      await open(table).versions([], { ...report, instance: 'last' }); // a new object purges after its first report
      const left = [...instances.slice(1200), 'last'].map((instance) => ({ name: `report//${instance}` }));
      expect(await run(`SELECT name FROM ${table} ORDER BY name`)).toEqual(left);
    }, 10_000);
    expect((await open(table).reports()).map(({ instance }) => instance)).toContain('last');
    await close();
  },
  60_000,
);

it.each(Object.entries(ENGINES))(
  '%s: long texts go with the text of their name, and none that is written meanwhile',
  async (_, connect) => {
    const { open, run, close } = await connect();
    const table = `long_texts_${process.pid}`;
    const text = 'x'.repeat(5000);
    const store = open(table);
    for (let i = 1; i <= 40; i += 1) {
      await store.write('kept', text, 2 * i, undefined, 1);
      const purging = open(table).write('other', '', i, undefined, 1); // a new object purges after its first write
      await Promise.all([purging, store.write('kept', `${text}${i}`, 2 * i + 1)]);
      expect(await store.read('kept')).toMatchObject({ version: 2 * i + 1, payload: `${text}${i}` });
    }
    await store.write('brief', text, 1, undefined, 1);
    await store.write('deleted', text, 1);
    await store.write('deleted by hand', text, 1);
    await store.delete('deleted');
    const rows = (): Promise<readonly object[]> =>
      run(`SELECT name FROM ${table} WHERE name <> 'name/other' ORDER BY name`);
    const named = (...names: string[]) => names.map((name) => ({ name: `name/${name}` }));
    const byHand = named('deleted by hand', 'deleted by hand');
    expect(await rows()).toEqual(expect.arrayContaining([...byHand, ...named('kept', 'kept')]));
    await run(`DELETE FROM ${table} WHERE name = 'name/deleted by hand' AND part = '' RETURNING name`);
    await vi.waitFor(async () => {
      await open(table).write('other', '', undefined, undefined, 1);
      expect(await rows()).toEqual(named('kept', 'kept'));
    }, 10_000);
    await close();
  },
  60_000,
);

/** A user that may only read in a schema, named as that. */
const GRANTS = {
  PostgreSQL: (space: string) => [
    `CREATE USER ${space} PASSWORD 'secret'`,
    `GRANT USAGE ON SCHEMA ${space} TO ${space}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${space} TO ${space}`,
  ],
  MariaDB: (space: string) => [
    `CREATE USER ${space} IDENTIFIED BY 'secret'`,
    `GRANT SELECT ON ${space}.snapshots TO ${space}`,
  ],
};

it.each(['PostgreSQL', 'MariaDB'] as const)(
  '%s: without the right to write a report is lost, and no version is',
  async (engine) => {
    const space = `reports_${process.pid}`;
    const own = new URL(inject(engine === 'MariaDB' ? 'mariadb' : 'postgres').url);
    const owner = await ENGINES[engine]();
    await owner.run(`CREATE SCHEMA ${space}`);
    await owner.open(`${space}.snapshots`).write('a', 'payload', 7);
    for (const grant of GRANTS[engine](space)) await owner.run(grant);
    Object.assign(own, { username: space, password: 'secret' });
    if (engine === 'MariaDB') own.pathname = space; // its databases are schemas
    const user = await ENGINES[engine](own.href);
    const store = user.open(`${space}.snapshots`);
    for (let time = 0; time < 2; time += 1) expect(await store.versions(['a'], report)).toEqual([7]);
    expect(await store.read('a')).toMatchObject({ payload: 'payload' });
    expect(await store.reports()).toEqual([]);
    await Promise.all([user.close(), owner.close()]);
  },
);
