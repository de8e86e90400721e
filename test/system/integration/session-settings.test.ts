import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgresJs from 'postgres';
import { createClient, createClientPool, RESP_TYPES } from 'redis';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import {
  type PostgresClient,
  type PostgresJsClient,
  postgresBackend,
} from '../../../src/backends/postgres.ts';
import { type RedisBackendOptions, redisBackend } from '../../../src/backends/redis.ts';
import { type SqliteClient, sqliteBackend } from '../../../src/backends/sqlite.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { expectAnswers, type Steps } from './support/answers.ts';

// What sessions can be set to, and how clients parse what a server sends: no answer depends on it. See also mysql-modes.test.ts.

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

let tables = 0;
const newTable = (): string => `sessions_${process.pid}_${++tables}`;

describe('PostgreSQL', () => {
  const stepsOf = (client: PostgresClient | PostgresJsClient, table = newTable()): Steps => ({
    lock: lockOf(postgresBackend({ client, table })),
    store: storeOf(postgresBackend({ client, table, keepVersions: 3 })),
  });
  const poolOf = (options: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ connectionString: inject('postgres').url, ...options });
    pool.on('error', () => {});
    ended.push(() => pool.end());
    return pool;
  };

  it.each([
    'default_transaction_isolation=serializable',
    'default_transaction_isolation=repeatable\\ read',
    'default_transaction_isolation=read\\ uncommitted',
    'default_transaction_deferrable=on',
    'standard_conforming_strings=off',
    'extra_float_digits=-15',
    'DateStyle=SQL,DMY',
    'IntervalStyle=sql_standard',
    'TimeZone=Pacific/Chatham',
    'bytea_output=escape',
    'transform_null_equals=on',
    'plan_cache_mode=force_generic_plan',
  ])('a session with %s has the same answers', async (setting) => {
    await expectAnswers(stepsOf(poolOf({ options: `-c ${setting}` })));
  });

  it('without a search path a table with its schema is used, and one without is refused with the reason', async () => {
    const pool = poolOf({ options: '-c search_path=' });
    await expectAnswers(stepsOf(pool, `public.${newTable()}`));
    await expect(stepsOf(pool).lock.acquire({ name: 'a' })).rejects.toThrow(/no schema has been selected/);
  });

  it('a read-only session is refused with the line to change', async () => {
    const pool = poolOf({ options: '-c default_transaction_read_only=on' });
    const table = newTable();
    await stepsOf(poolOf({}), table).lock.acquire({ name: 'a' });
    await expect(stepsOf(pool, table).lock.acquire({ name: 'b' })).rejects.toThrow(
      /default_transaction_read_only = off/,
    );
  });

  it('a level at which concurrent statements fail closes no connection and fails no step', async () => {
    const table = newTable();
    await stepsOf(poolOf({}), table).lock.acquire({ name: 'table' });
    const pool = poolOf({ max: 8, options: '-c default_transaction_isolation=serializable' });
    await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT pg_sleep(0.1)')));
    let connects = 0;
    pool.on('connect', () => {
      connects += 1;
    });
    const instances = Array.from({ length: 8 }, () => stepsOf(pool, table));
    for (let round = 0; round < 20; round += 1) {
      const names = ['a', 'b', 'c'];
      const answers = await Promise.all(
        instances.flatMap(({ lock }) => names.map((name) => lock.acquire({ name, force: true }))),
      );
      const leases = answers.flatMap((answer) => (answer.kind === 'acquired' ? [answer.lease] : []));
      expect(leases.map(({ name }) => name).sort()).toEqual(names); // one of each
      const { lock } = instances[0] as Steps;
      const released = leases.map((lease) => lock.release(lease, { as: 'done', holdFor: 0 }));
      expect(await Promise.all(released)).toEqual([true, true, true]);
      await Promise.all(instances.map(({ store }, i) => store.write('a', `${round} ${i}`)));
    }
    expect(connects).toBe(0);
  });

  const raw = { getTypeParser: () => (value: unknown) => value };
  const rawTypes = {
    all: { to: 25, from: [16, 20, 21, 23, 700, 701, 1700, 1184], serialize: String, parse: String },
  };
  it.each<[string, () => PostgresClient | PostgresJsClient]>([
    ['pg that parses nothing', () => poolOf({ types: raw as never })],
    ['pg in the binary format', () => poolOf({ binary: true } as pg.PoolConfig)],
    [
      'postgres.js that parses nothing',
      () => {
        const sql = postgresJs(inject('postgres').url, { types: rawTypes as never, max: 2 });
        ended.push(() => sql.end());
        return sql;
      },
    ],
  ])('%s has the same answers', async (_, open) => {
    await expectAnswers(stepsOf(open()));
  });
});

describe('MariaDB', () => {
  const stepsOf = (...set: string[]): Steps => {
    const pool = createPool({ uri: inject('mariadb').url, dateStrings: true, bigNumberStrings: true });
    ended.push(() => pool.end());
    pool.on('connection', (connection) => {
      for (const sql of set) void connection.query(sql);
    });
    const table = newTable();
    return {
      lock: lockOf(mysqlBackend({ client: pool, table })),
      store: storeOf(mysqlBackend({ client: pool, table, keepVersions: 3 })),
    };
  };

  it.each([
    'sql_safe_updates = 1',
    'sql_select_limit = 1',
    'sql_safe_updates = 1, sql_select_limit = 1, max_join_size = 1000',
    `SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED`,
    `SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`,
    `SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE`,
    `time_zone = '-07:30'`,
    'innodb_strict_mode = 0',
    'foreign_key_checks = 0, unique_checks = 0',
    'completion_type = CHAIN',
  ])('a session with %s has the same answers', async (setting) => {
    await expectAnswers(stepsOf(`SET ${setting}`));
  });

  it('a session without autocommit is refused with the line to change, and holds no row', async () => {
    const { lock } = stepsOf('SET autocommit = 0');
    for (let time = 0; time < 2; time += 1)
      await expect(lock.acquire({ name: 'a' })).rejects.toThrow(/SET autocommit = 1/);
  });

  it('a read-only session is refused with the line to change', async () => {
    const { lock } = stepsOf('SET SESSION TRANSACTION READ ONLY');
    await expect(lock.acquire({ name: 'a' })).rejects.toThrow(/SET SESSION TRANSACTION READ WRITE/);
  });
});

describe('Redis', () => {
  const stepsOf = (client: RedisBackendOptions['client']): Steps => {
    const prefix = `${newTable()}:`;
    return {
      lock: lockOf(redisBackend({ client, prefix })),
      store: storeOf(redisBackend({ client, prefix, keepVersions: 3 })),
    };
  };
  const { url } = inject('redis');
  const bytes = {
    [RESP_TYPES.BLOB_STRING]: Buffer,
    [RESP_TYPES.SIMPLE_STRING]: Buffer,
    [RESP_TYPES.NUMBER]: String,
  };

  it('ioredis with numbers as texts has the same answers', async () => {
    const client = new Redis(url, { stringNumbers: true });
    ended.push(() => client.quit());
    await expectAnswers(stepsOf(client));
  });

  it.each([
    ['RESP 2 and bytes for texts', createClient({ url, RESP: 2, commandOptions: { typeMapping: bytes } })],
    ['RESP 3 and bytes for texts', createClient({ url, RESP: 3, commandOptions: { typeMapping: bytes } })],
    ['a pool', createClientPool({ url, RESP: 3 })],
  ])('node-redis with %s has the same answers', async (_, client) => {
    client.on('error', () => {});
    ended.push(() => client.close());
    await client.connect();
    await expectAnswers(stepsOf(client as unknown as RedisBackendOptions['client']));
  });
});

describe('SQLite', () => {
  it('numbers as bigints have the same answers', async () => {
    const client = new Database(':memory:');
    ended.push(() => client.close());
    client.defaultSafeIntegers(true);
    const given = { client: client as SqliteClient, table: newTable() };
    await expectAnswers({
      lock: lockOf(sqliteBackend(given)),
      store: storeOf(sqliteBackend({ ...given, keepVersions: 3 })),
    });
  });
});
