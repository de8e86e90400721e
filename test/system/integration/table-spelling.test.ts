import process from 'node:process';
import Sqlite from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, expect, inject, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import type { Backend } from '../../../src/engine/backend.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

const ended: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ended.splice(0)) await end();
});

const [upper, lower] = [`Spelled_${process.pid}`, `spelled_${process.pid}`];
const lines: string[] = [];
const logger = { warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) };

/** What an instance with a backend in that table reads, which would load its own name. */
async function readIn(backend: Backend, own: string): Promise<string> {
  const value = new RefreshingValue({ name: 'v', load: () => own, backend, schedule: '1h', logger });
  const read = await value.get();
  await value.close();
  return read;
}

it('SQLite, which takes both for one table, refuses the second spelling', async () => {
  const client = new Sqlite(':memory:');
  ended.push(() => client.close());
  const other = new Sqlite(':memory:');
  ended.push(() => other.close());
  const of = (table: string): Backend => sqliteBackend({ client, table });
  expect(await readIn(of('Shop'), 'of Shop')).toBe('of Shop');
  expect(await readIn(of('shop'), 'own')).toBe('own');
  expect(lines.join('\n')).toContain('the database takes the table shop for Shop, which is another one');
  await expect(storeOf(of('SHOP')).read('v')).rejects.toThrow('takes the table SHOP for Shop');
  await expect(lockOf(of('main.shop')).acquire({ name: 'v' })).rejects.toThrow(
    'takes the table shop for Shop',
  );
  expect(await readIn(of('Shop'), 'not loaded')).toBe('of Shop');
  expect(await readIn(of('main.Shop'), 'not loaded')).toBe('of Shop');
  expect(await readIn(of('shops'), 'of shops')).toBe('of shops');
  const [late, first] = [of('Late'), of('late')]; // the table is created between their first steps
  expect(await storeOf(first).read('v')).toBeUndefined();
  await expect(storeOf(late).read('v')).rejects.toThrow('takes the table Late for late');
});

it('PostgreSQL keeps them apart', async () => {
  const client = new pg.Pool({ connectionString: inject('postgres').url, max: 2 });
  client.on('error', () => {});
  ended.push(() => client.end());
  expect(await readIn(postgresBackend({ client, table: upper }), 'of upper')).toBe('of upper');
  expect(await readIn(postgresBackend({ client, table: lower }), 'of lower')).toBe('of lower');
  expect(() => postgresBackend({ client, table: 'a'.repeat(64) })).toThrow('at most 63 characters');
  await client.query(`DROP TABLE "${upper}", "${lower}"`);
});

it('MariaDB keeps them apart, unless its file names do not', async () => {
  const client = createPool({ uri: inject('mariadb').url, connectionLimit: 2 });
  ended.push(() => client.end());
  const [rows] = await client.query('SELECT @@lower_case_table_names AS n');
  expect(rows).toEqual([{ n: 0 }]);
  expect(await readIn(mysqlBackend({ client, table: upper }), 'of upper')).toBe('of upper');
  expect(await readIn(mysqlBackend({ client, table: lower }), 'of lower')).toBe('of lower');
  await client.query(`DROP TABLE ${upper}, ${lower}`);
});
