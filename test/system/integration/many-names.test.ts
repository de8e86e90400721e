import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import type { AcquireAnswer, LockProvider } from '../../../src/cluster/lock-contract.ts';
import type { SnapshotStore } from '../../../src/cluster/store-contract.ts';
import { mysqlLockTable } from '../../../src/lock/mysql.ts';
import { postgresLockTable } from '../../../src/lock/postgres.ts';
import { sqlLock } from '../../../src/lock/sql.ts';
import type { SqlClient } from '../../../src/sql/client.ts';
import { MYSQL, MysqlSql } from '../../../src/sql/mysql.ts';
import { POSTGRES, PostgresSql } from '../../../src/sql/postgres.ts';
import { mysqlStoreTable } from '../../../src/store/mysql.ts';
import { postgresStoreTable } from '../../../src/store/postgres.ts';
import { sqlStore } from '../../../src/store/sql.ts';
import { lockTable, storeTable } from './support/backends.ts';

// What the conformance suite can't see of the steps for several names: what sessions do to each other, and refused values.

const NAMES = Array.from({ length: 300 }, (_, i) => `name-${i}`);
const ROUNDS = 15;
const TIMEOUT_MS = 20_000;

type Many<T, P extends keyof T> = { readonly [K in P]-?: NonNullable<T[K]> };
type Steps = Many<LockProvider, 'acquireMany' | 'releaseMany'> &
  Many<SnapshotStore, 'readMany' | 'writeMany'>;

/** A lock and a store with their own pool; `contention` counts the statements that failed by others, and were retried. */
interface Session extends Steps {
  contention: number;
  close(): Promise<void>;
}

const KINDS = [
  {
    name: 'PostgreSQL',
    refused: 'a\0b', // no text there has it
    open: (space: string) => {
      const pool = new pg.Pool({ connectionString: inject('postgres').url });
      const tables = { lock: postgresLockTable, store: postgresStoreTable };
      const sql = new PostgresSql(pool, TIMEOUT_MS);
      return { sql, session: session(space, sql, POSTGRES, tables, () => pool.end()) };
    },
  },
  ...[true, false].map((hasReturning) => ({
    name: `MariaDB, with RETURNING: ${hasReturning}`,
    refused: 'x'.repeat(17_000_000), // it takes no statement of more than 16 MB
    open: (space: string) => {
      const pool = createPool(inject('mariadb').url);
      const tables = { lock: mysqlLockTable, store: mysqlStoreTable };
      const sql = new MysqlSql(pool, TIMEOUT_MS, hasReturning);
      return { sql, session: session(space, sql, MYSQL, tables, () => pool.end()) };
    },
  })),
];

function session(
  space: string,
  client: SqlClient,
  dialect: typeof MYSQL,
  tables: { readonly lock: (table?: string) => string; readonly store: (table?: string) => string },
  close: () => Promise<void>,
): Session {
  const kind = { client, dialect, definedBy: '', longestName: 512 };
  const timeout = { timeout: TIMEOUT_MS };
  const lock = sqlLock({ table: lockTable(space), ...timeout }, { ...kind, definition: tables.lock });
  const store = sqlStore({ table: storeTable(space), ...timeout }, { ...kind, definition: tables.store });
  const counted: Session = {
    ...(lock as unknown as Steps),
    ...(store as unknown as Steps),
    contention: 0,
    close,
  };
  const isContention = client.isContention.bind(client);
  client.isContention = (error) => {
    const is = isContention(error);
    if (is) counted.contention += 1;
    return is;
  };
  return counted;
}

function sound<A>(answers: readonly (A | Error)[]): A[] {
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

describe.each(KINDS)('$name', ({ name, open, refused }) => {
  const space = `many_${KINDS.findIndex((kind) => kind.name === name)}_${process.pid}`;

  it('two sessions that take the same names in opposite order never wait for each other in a circle', async () => {
    const sessions = [open(space).session, open(space).session];
    sound(await (sessions[0] as Session).writeMany([{ name: 'table', payload: '' }]));
    sound(await (sessions[0] as Session).acquireMany([{ ...requestOf('table', 0) }]));
    const won: string[] = [];
    await Promise.all(
      sessions.map(async ({ acquireMany, writeMany, releaseMany }, i) => {
        const names = i === 0 ? NAMES : NAMES.toReversed();
        for (let round = 0; round < ROUNDS; round += 1) {
          const answers = sound<AcquireAnswer>(await acquireMany(names.map((one) => requestOf(one, i))));
          const leases = answers.flatMap((answer) => (answer.kind === 'acquired' ? [answer.lease] : []));
          won.push(...leases.map(({ name }) => name));
          sound(await writeMany(names.map((name, k) => ({ name, payload: `${i}`, token: k + 1 }))));
          const outcome = { as: 'done', holdFor: 0 } as const;
          const ended = await releaseMany(leases.toReversed().map((lease) => ({ lease, outcome })));
          expect(ended.filter((one) => one !== true)).toEqual([]);
        }
      }),
    );
    expect(new Set(won).size).toBe(NAMES.length);
    expect(sessions.map(({ contention }) => contention)).toEqual([0, 0]);
    await Promise.all(sessions.map(({ close }) => close()));
  });

  it('a value that the server refuses is alone with that', async () => {
    const { readMany, writeMany, close } = open(space).session;
    const payloads = ['a', 'b', refused, 'd', 'e'];
    const answers = await writeMany(payloads.map((payload, i) => ({ name: `${i}`, payload, token: i + 1 })));
    expect(answers.map((answer) => answer instanceof Error)).toEqual([false, false, true, false, false]);
    const found = sound(await readMany(payloads.map((_, i) => ({ name: `${i}` }))));
    expect(found.map((read) => read?.payload)).toEqual(['a', 'b', undefined, 'd', 'e']);
    await close();
  });
});

function requestOf(name: string, owner: number) {
  const requestId = `${owner} ${Math.random()}`;
  return { name, owner: `${owner}`, requestId, leaseFor: 60_000, host: '', force: false };
}
