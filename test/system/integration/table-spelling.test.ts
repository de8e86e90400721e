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

it('PostgreSQL and MariaDB keep them apart, unless the file names of MariaDB do not', async () => {
  const ofPg = new pg.Pool({ connectionString: inject('postgres').url, max: 2 });
  ofPg.on('error', () => {});
  const ofMysql = createPool({ uri: inject('mariadb').url, connectionLimit: 2 });
  ended.push(
    () => ofPg.end(),
    () => ofMysql.end(),
  );
  expect((await ofMysql.query('SELECT @@lower_case_table_names AS n'))[0]).toEqual([{ n: 0 }]);
  for (const of of [
    (table: string): Backend => postgresBackend({ client: ofPg, table }),
    (table: string): Backend => mysqlBackend({ client: ofMysql, table }),
  ]) {
    expect(await readIn(of(upper), 'of upper')).toBe('of upper');
    expect(await readIn(of(lower), 'of lower')).toBe('of lower');
  }
  expect(() => postgresBackend({ client: ofPg, table: 'a'.repeat(64) })).toThrow('at most 63 characters');
  await ofPg.query(`DROP TABLE "${upper}", "${lower}"`);
  await ofMysql.query(`DROP TABLE ${upper}, ${lower}`);
});
