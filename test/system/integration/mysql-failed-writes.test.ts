import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { MysqlSql } from '../../../src/backends/sql/mysql.ts';
import type { SnapshotStore, Store } from '../../../src/cluster/store-contract.ts';
import { storeOf } from '../../support/parts.ts';
import { storeWithoutBlocks } from './support/backends.ts';

// Writes with earlier versions of which one statement fails: the next ones are under way already where MySQL has no blocks.

const OPTIONS = { keepVersions: 3, timeout: 20_000 };

const KINDS: readonly { name: string; open: (client: Pool, table: string) => Store }[] = [
  { name: 'MariaDB', open: (client, table) => storeOf(mysqlBackend({ client, table, ...OPTIONS })) },
  {
    name: 'MariaDB as MySQL, without blocks',
    open: (client, table) => storeWithoutBlocks(client, table, OPTIONS),
  },
];

let pool: Pool;
beforeAll(() => {
  pool = createPool(inject('mariadb').url);
});
afterAll(() => pool.end());

let tables = 0;
const newTable = (): string => `failed_writes_${process.pid}_${++tables}`;

async function versionsOf(store: SnapshotStore, name: string): Promise<number[]> {
  return ((await store.history?.(name)) ?? []).map(({ version }) => version);
}

/** Has a write of two names wait for one of them in a circle, with a session whose transaction the server prefers. */
async function deadlocked<R>(space: string, write: () => Promise<R>): Promise<{ answers: Promise<R> }> {
  const locked = (name: string): string =>
    `SELECT token FROM ${space} WHERE name = 'snapshot/${name}' AND edition = -1 FOR UPDATE`;
  const isWaiting = async (): Promise<boolean> => {
    const [rows] = await pool.query<RowDataPacket[]>(
      `SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%${space}%'`,
    );
    return rows.length > 0;
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
    return { answers };
  } finally {
    other.destroy();
  }
}

describe.each(KINDS)('$name', ({ open }) => {
  it.each([
    ['with tokens', [1, 2]],
    ['without', [undefined, undefined]],
  ] as const)('after a deadlock both names have both versions: %s', async (_, tokens) => {
    const space = newTable();
    const store = open(pool, space);
    const contention = vi.spyOn(MysqlSql.prototype, 'isContention');
    const write = (payload: string, token?: number) =>
      Promise.all(['a', 'b'].map((name) => store.write(name, payload, token)));
    const before = await write('one', tokens[0]);

    const written = await deadlocked(space, () => write('two', tokens[1]));
    const answers = await written.answers;
    const errors = contention.mock.calls.map(([error]) => (error as { errno?: number }).errno);
    contention.mockRestore();
    expect(errors).toEqual([1213]);
    for (const [i, name] of ['a', 'b'].entries()) {
      expect(answers[i]).toMatchObject({ kind: 'written' });
      expect(await versionsOf(store, name)).toEqual([answers[i]?.version, before[i]?.version]);
    }
  });

  it('a write whose text is refused leaves no version twice', async () => {
    const space = newTable();
    const store = open(pool, space);
    await store.write('a', 'one', 1);
    await store.write('a', 'two', 2);
    await pool.query(`ALTER TABLE ${space} MODIFY text TINYTEXT NOT NULL`);
    await expect(store.write('a', 'x'.repeat(300), 3)).rejects.toThrow(/too long/);
    expect(await versionsOf(store, 'a')).toEqual([2, 1]);
    await store.write('a', 'three', 3);
    expect(await versionsOf(store, 'a')).toEqual([3, 2, 1]);
  });
});
