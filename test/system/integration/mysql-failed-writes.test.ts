import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { MysqlSql } from '../../../src/backends/sql/mysql.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import { storeOf } from '../../support/parts.ts';
import { storeWithoutBlocks } from './support/backends.ts';

// Writes of long texts of which one statement fails: the next ones are under way already where MySQL has no blocks.

const OPTIONS = { keepVersions: 3, timeout: 20_000 };

const KINDS: readonly { name: string; open: (client: Pool, table: string) => Store }[] = [
  { name: 'MariaDB', open: (client, table) => storeOf(mysqlBackend({ client, table, ...OPTIONS })) },
  {
    name: 'MariaDB as MySQL, without blocks',
    open: (client, table) => storeWithoutBlocks(client, table, OPTIONS),
  },
];

const NAMES = ['a', 'b'] as const;

let pool: Pool;
beforeAll(() => {
  pool = createPool(inject('mariadb').url);
});
afterAll(() => pool.end());

let tables = 0;
const newTable = (): string => `failed_writes_${process.pid}_${++tables}`;

/** It is beside its record. */
const long = (text: string): string => text.repeat(2000);

/** Both names have versions with these payloads, and the table has the long ones of them and no others. */
async function expectVersions(store: Store, space: string, payloads: readonly string[]): Promise<void> {
  for (const name of NAMES) {
    const versions = await store.history(name);
    expect(versions).toHaveLength(payloads.length);
    const found = await Promise.all(versions.map(({ version }) => store.read(name, undefined, version)));
    expect(found.map((one) => one?.damage ?? one?.payload)).toEqual(payloads);
  }
  const sql = `SELECT \`body\` AS text FROM ${space} WHERE part <> '' ORDER BY name`;
  const [rows] = await pool.query<RowDataPacket[]>(sql);
  const ofEach = payloads.filter((payload) => payload.length > 3000).sort();
  expect(rows.map(({ text }) => text).sort()).toEqual(NAMES.flatMap(() => ofEach).sort());
}

/** Has a write of both names wait for the second one in a circle, with a session whose transaction the server prefers. */
async function deadlocked<R>(space: string, rows: string, write: () => Promise<R>): Promise<Promise<R>[]> {
  const locked = (name: string): string =>
    `SELECT part FROM ${space} WHERE name = 'name/${name}' AND ${rows} FOR UPDATE`;
  const isWaiting = async (): Promise<boolean> => {
    const sql = `SELECT 1 FROM information_schema.innodb_locks WHERE lock_table LIKE '%\`${space}\`'`;
    const [found] = await pool.query<RowDataPacket[]>(sql);
    return found.length > 0;
  };
  await pool.query(`CREATE TABLE ${space}_rows (i INT PRIMARY KEY) ENGINE = InnoDB`);
  const other = await pool.getConnection();
  try {
    await other.query('START TRANSACTION');
    await other.query(`INSERT INTO ${space}_rows SELECT seq FROM seq_1_to_1000`); // the one with fewer changes is undone
    await other.query(locked('b'));
    const answers = write(); // it holds the first name, and waits for the other
    answers.catch(() => {});
    // The server renews this table only if nobody has read it for 100 ms.
    await vi.waitFor(async () => expect(await isWaiting()).toBe(true), { timeout: 10_000, interval: 250 });
    await other.query(locked('a'));
    await other.query('COMMIT');
    return [answers];
  } finally {
    other.destroy();
  }
}

describe.each(KINDS)('$name', ({ open }) => {
  it.each([
    ['long texts', "part > ''"],
    ['records', "part = ''"],
  ])('after a deadlock about %s both names have both versions', async (_, rows) => {
    const space = newTable();
    const store = open(pool, space);
    const contention = vi.spyOn(MysqlSql.prototype, 'isContention');
    const write = (text: string, token: number) =>
      Promise.all(NAMES.map((name) => store.write(name, long(text), token)));
    await write('one', 1);
    contention.mockClear();
    const [answers] = await deadlocked(space, rows, () => write('two', 2));
    expect(await answers).toEqual(NAMES.map(() => ({ kind: 'written', version: 2 })));
    const errors = contention.mock.calls.map(([error]) => (error as { errno?: number }).errno);
    contention.mockRestore();
    expect(errors).toEqual([1213]);
    await expectVersions(store, space, ['two', 'one'].map(long));
  });

  it.each([
    [
      'text',
      (space: string) => `ALTER TABLE ${space} ADD CONSTRAINT rule CHECK (CHAR_LENGTH(\`body\`) < 4000)`,
    ],
    ['record', (space: string) => `ALTER TABLE ${space} MODIFY main CHAR(1)`],
  ])('a write whose %s is refused leaves no trace', async (_, limit) => {
    const space = newTable();
    const store = open(pool, space);
    for (const name of NAMES) await store.write(name, 'one', 1);
    await pool.query(limit(space));
    for (const name of NAMES)
      await expect(store.write(name, long('bad'), 2)).rejects.toThrow(/CONSTRAINT|too long/);
    await expectVersions(store, space, ['one']);
    for (const name of NAMES) await store.write(name, 'three', 3);
    await expectVersions(store, space, ['three', 'one']);
  });
});
