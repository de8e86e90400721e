import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { RedisCells } from '../../../src/backends/redis/redis-cells.ts';
import { openMysql } from '../../../src/backends/sql/open-mysql.ts';
import { openPostgres } from '../../../src/backends/sql/open-postgres.ts';
import { openSqlite } from '../../../src/backends/sql/open-sqlite.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';

// Those of the other backends are in the files of their servers.

describe('Redis', { concurrent: true }, () => {
  const { url } = inject('redis');
  const ioredis = new Redis(url, { lazyConnect: true });
  const nodeRedis = createClient({ url });
  const patient = { prefix: 'records:', timeout: 10_000 };
  beforeAll(() => nodeRedis.connect());
  afterAll(() => {
    ioredis.disconnect();
    nodeRedis.destroy();
  });

  const subject = {
    cells: () => new RedisCells({ client: ioredis, ...patient }),
    other: () => new RedisCells({ client: nodeRedis, ...patient }),
  };
  for (const { name, run } of recordsConformance(subject)) it(name, run);
});

const TABLE = { table: `records_${process.pid}`, timeout: 10_000 };

describe('PostgreSQL', { concurrent: true }, () => {
  const pools = [1, 2].map(() => new pg.Pool({ connectionString: inject('postgres').url }));
  for (const pool of pools) pool.on('error', () => {});
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  const open = (i: number) => openPostgres({ client: pools[i] as pg.Pool, ...TABLE }).cells;
  for (const { name, run } of recordsConformance({ cells: () => open(0), other: () => open(1) }))
    it(name, run);
});

describe.each([
  ['MariaDB', true],
  ['MariaDB as MySQL, without blocks', false],
])('%s', { concurrent: true }, (_, hasBlocks) => {
  const pools = [1, 2].map(() => createPool(inject('mariadb').url));
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  const table = `${TABLE.table}_${hasBlocks}`;
  const open = (i: number) => openMysql({ client: pools[i] as never, ...TABLE, table }, hasBlocks).cells;
  for (const { name, run } of recordsConformance({ cells: () => open(0), other: () => open(1) }))
    it(name, run);
});

describe('SQLite with better-sqlite3', () => {
  const client = new Database(':memory:');
  afterAll(() => client.close());

  const { cells } = openSqlite({ client, ...TABLE });
  for (const { name, run } of recordsConformance({ cells: () => cells })) it(name, run);
});
