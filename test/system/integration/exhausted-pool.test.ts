import { setTimeout as sleep } from 'node:timers/promises';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { type PostgresClient, postgresBackend } from '../../../src/backends/postgres.ts';
import type { PostgresCommand, PostgresResult } from '../../../src/drivers/pg.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf } from '../../support/parts.ts';

// A command that nobody waits for any more is not sent late: an acquire would leave a lease that nobody has.

const TIMEOUT_MS = 200;
const TABLE = `exhausted_${process.pid}`;

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** The time of the caller and that of the command begin a moment apart: both are over then. */
async function expectGivenUp(step: Promise<unknown>): Promise<void> {
  await expect(step).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
  await sleep(TIMEOUT_MS / 4);
}

/** An acquire waits for a row that `hold` has locked until its caller has given up: it is not applied later. */
async function expectNotApplied(
  lock: Lock,
  other: Lock,
  hold: () => Promise<() => Promise<void>>,
): Promise<void> {
  await lock.release(await leaseOf(lock, { name: 'row' }), { as: 'abandoned' });
  const letGo = await hold();
  await expectGivenUp(lock.acquire({ name: 'row' }));
  await sleep(TIMEOUT_MS);
  await letGo();
  await sleep(100);
  expect(await other.inspect('row')).toMatchObject({ state: 'abandoned', leaseLeft: 0 });
  expect(await other.acquire({ name: 'row' })).toMatchObject({ kind: 'acquired' });
}

/** Neither now nor soon. */
async function expectNoLease(lock: Lock, name: string): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await sleep(50);
    expect(await lock.inspect(name)).toBeUndefined();
  }
}

describe('PostgreSQL', () => {
  const poolOf = (max: number): pg.Pool => {
    const pool = new pg.Pool({ connectionString: inject('postgres').url, max });
    pool.on('error', () => {});
    ended.push(() => pool.end());
    return pool;
  };
  const lockFor = (client: PostgresClient): Lock =>
    lockOf(postgresBackend({ client, table: TABLE, timeout: TIMEOUT_MS }));

  /** Nobody else gets at it until it is let go. */
  async function lockTable(): Promise<{ readonly blocking: pg.PoolClient; letGo(): Promise<void> }> {
    const blocking = await poolOf(1).connect();
    await blocking.query(`BEGIN; LOCK TABLE "${TABLE}"`);
    const letGo = async (): Promise<void> => {
      await blocking.query('ROLLBACK');
      blocking.release();
    };
    return { blocking, letGo };
  }

  it('a pool that is exhausted: what nobody waits for any more is not run, and the connection goes back', async () => {
    const pool = poolOf(1);
    const [lock, other] = [lockFor(pool), lockFor(poolOf(1))];
    await lock.inspect('table');
    const busy = await pool.connect();
    await expectGivenUp(lock.acquire({ name: 'late' }));
    busy.release();
    await expectNoLease(other, 'late');
    expect({ total: pool.totalCount, idle: pool.idleCount }).toEqual({ total: 1, idle: 1 });
    expect(await lock.acquire({ name: 'in time' })).toMatchObject({ kind: 'acquired' });
  });

  it('a command without an answer for ten time-outs: the pool closes its connection', async () => {
    const pool = poolOf(1);
    const lock = lockFor(pool);
    await lock.inspect('table');
    const { letGo } = await lockTable();
    try {
      await expectGivenUp(lock.acquire({ name: 'blocked' }));
      expect(pool.totalCount).toBe(1); // slow is not dead
      await sleep(9 * TIMEOUT_MS + 50);
      expect(pool.totalCount).toBe(0);
    } finally {
      await letGo();
    }
    expect(await lock.inspect('table')).toBeUndefined();
  });

  it('an acquire that waits for a row longer than its caller is not applied later', async () => {
    await expectNotApplied(lockFor(poolOf(1)), lockFor(poolOf(1)), async () => {
      const holding = await poolOf(1).connect();
      await holding.query(`BEGIN; SELECT 1 FROM "${TABLE}" WHERE name = 'name/row' FOR UPDATE`);
      return async () => {
        await holding.query('ROLLBACK');
        holding.release();
      };
    });
  });

  it('a connection that breaks under a command: is told, and replaced', async () => {
    const pool = poolOf(1);
    const lock = lockOf(postgresBackend({ client: pool, table: TABLE, timeout: 10_000 }));
    await lock.inspect('table');
    const [{ pid }] = (await pool.query('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }];
    const { blocking, letGo } = await lockTable();
    try {
      const begun = performance.now();
      const step = expectGivenUp(lock.acquire({ name: 'broken' }));
      await sleep(100);
      await blocking.query('SELECT pg_terminate_backend($1)', [pid]);
      await step;
      expect(performance.now() - begun).toBeLessThan(8000);
    } finally {
      await letGo();
    }
    expect(await lock.acquire({ name: 'broken' })).toMatchObject({ kind: 'acquired' });
    expect(pool.totalCount).toBe(1);
  });

  it('a single client that is busy: what nobody waits for any more is not run', async () => {
    const client = new pg.Client(inject('postgres').url);
    await client.connect();
    ended.push(() => client.end());
    const [lock, other] = [lockFor(client), lockFor(poolOf(1))];
    await lock.inspect('table');
    const busy = client.query('SELECT pg_sleep(0.6)');
    await expectGivenUp(lock.acquire({ name: 'late too' }));
    await busy;
    await expectNoLease(other, 'late too');
    expect(await lock.acquire({ name: 'in time too' })).toMatchObject({ kind: 'acquired' });
  });

  it('a table that had to be made meanwhile: the time counts from the begin', async () => {
    const sent: string[] = [];
    let out = 0;
    /** Each connection comes when more than half of the time is over. */
    const pool = {
      totalCount: 1,
      async connect() {
        await sleep(0.6 * TIMEOUT_MS);
        out += 1;
        return connection;
      },
      query: () => Promise.reject(new Error('not on the pool')),
    };
    const connection = {
      async query({ text }: PostgresCommand): Promise<PostgresResult> {
        sent.push(text);
        throw Object.assign(new Error('no table'), { code: '42P01' });
      },
      release() {
        out -= 1;
      },
      on: () => {},
      removeListener: () => {},
    };
    await expectGivenUp(lockFor(pool).acquire({ name: 'late' }));
    await sleep(4 * TIMEOUT_MS);
    expect(sent).toEqual([expect.stringMatching(/^WITH /)]);
    expect(out).toBe(0);
  });
});

describe('MariaDB', () => {
  const poolOf = (connectionLimit: number) => {
    const pool = createPool({ uri: inject('mariadb').url, connectionLimit });
    ended.push(() => pool.end());
    return pool;
  };
  const lockFor = (client = poolOf(1)): Lock =>
    lockOf(mysqlBackend({ client, table: TABLE, timeout: TIMEOUT_MS }));

  it('a pool that is exhausted: what nobody waits for any more is not run, and the connection goes back', async () => {
    const pool = poolOf(1);
    const lock = lockFor(pool);
    await lock.inspect('table');
    const busy = await pool.getConnection();
    await expectGivenUp(lock.acquire({ name: 'late' }));
    busy.release();
    await expectNoLease(lockFor(), 'late');
    expect(await lock.acquire({ name: 'in time' })).toMatchObject({ kind: 'acquired' });
  });

  it('an acquire that waits for a row longer than its caller is not applied later', () =>
    expectNotApplied(lockFor(), lockFor(), async () => {
      const holding = await poolOf(1).getConnection();
      await holding.query('START TRANSACTION');
      await holding.query(`SELECT 1 FROM ${TABLE} WHERE name = 'name/row' FOR UPDATE`);
      return async () => {
        await holding.query('ROLLBACK');
        holding.release();
      };
    }));
});
