import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import postgresJs from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { lockOf } from '../../support/parts.ts';
import { backendConformance } from './support/backend-conformance.ts';
import { postgresJsBackend, postgresPool } from './support/backends.ts';
import { type PgbouncerSettings, type RealServer, startPgbouncer, startPostgres } from './support/servers.ts';

const UNAVAILABLE = { code: 'BACKEND_DOWN' };
const table = `bounced_${process.pid}`;
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

function pool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const made = new pg.Pool({ connectionString: url, ...options });
  made.on('error', () => {});
  ended.push(() => made.end());
  return made;
}

async function bouncer(upstream: string, settings: PgbouncerSettings): Promise<string> {
  const server = await startPgbouncer(upstream, settings);
  ended.push(() => server.close());
  return server.url;
}

/** Fewer connections of the server than of the clients, so that commands of a client change between them. */
const FEW = { default_pool_size: 4 };

describe('PgBouncer in transaction mode', () => {
  const given = process.env.PGBOUNCER_URL;
  let server: RealServer<'pgbouncer'> | undefined;
  const url = (): string => given ?? String(server?.url);
  beforeAll(async () => {
    if (given === undefined) server = await startPgbouncer(inject('postgres').url, FEW);
  });
  afterAll(() => server?.close());

  describe('a pool of pg', () => backendConformance(postgresPool, url));
  describe('postgres.js with prepare: false', () => {
    backendConformance(postgresJsBackend({ prepare: false }), url);
  });
});

describe('postgres.js', () => {
  async function client(
    settings: PgbouncerSettings,
    options: postgresJs.Options<Record<string, never>>,
    parameters = '',
  ) {
    const url = await bouncer(inject('postgres').url, settings);
    const sql = postgresJs(`${url}${parameters}`, { onnotice: () => {}, fetch_types: false, ...options });
    ended.push(() => sql.end({ timeout: 0 }));
    return sql;
  }

  it('first commands, which create the table, are all answered', async () => {
    const sql = await client({}, { max: 1, prepare: false });
    const lock = lockOf(postgresBackend({ client: sql, table: `${table}_first`, timeout: 5000 }));
    const names = Array.from({ length: 10 }, (_, i) => `${i}`);
    const answers = await Promise.all(names.map((name) => lock.acquire({ name })));
    expect(answers).toEqual(names.map(() => expect.objectContaining({ kind: 'acquired' })));
  });

  it('commands behind a query of the application without values are answered, with max_pipeline=0', async () => {
    const sql = await client({}, { max: 1, prepare: false }, '?max_pipeline=0');
    const lock = lockOf(postgresBackend({ client: sql, table, timeout: 5000 }));
    await lock.inspect('table');
    const both = await Promise.all([sql.unsafe('SELECT 1 AS one'), lock.acquire({ name: 'behind' })]);
    expect(both).toEqual([[{ one: 1 }], expect.objectContaining({ kind: 'acquired' })]);
  });

  it('statements that it prepares are found with max_prepared_statements', async ({ skip }) => {
    const probe = await startPgbouncer(inject('postgres').url);
    ended.push(() => probe.close());
    const [major = 0, minor = 0] = probe.version.split('.').map(Number);
    skip(major === 1 && minor < 21, `PgBouncer ${probe.version} lacks that setting`);
    const sql = await client({ ...FEW, max_prepared_statements: 100 }, { max: 8 });
    const lock = lockOf(postgresBackend({ client: sql, table: `${table}_prepared`, timeout: 5000 }));
    for (let turn = 0; turn < 5; turn += 1) {
      const names = Array.from({ length: 16 }, (_, i) => `${turn} ${i}`);
      const answers = await Promise.all(names.map((name) => lock.acquire({ name })));
      expect(answers).toEqual(names.map(() => expect.objectContaining({ kind: 'acquired' })));
    }
  });
});

it('an acquire that was given up in the queue of PgBouncer is not run, with query_wait_timeout', async () => {
  const direct = lockOf(postgresBackend({ client: pool(inject('postgres').url), table }));
  await direct.inspect('table');
  const settings = { default_pool_size: 1, query_wait_timeout: 1 };
  const client = pool(await bouncer(inject('postgres').url, settings));
  const session = await client.connect();
  await session.query('BEGIN'); // occupies the one connection of the server
  const lock = lockOf(postgresBackend({ client, table, timeout: 300 }));
  await expect(lock.acquire({ name: 'given up' })).rejects.toMatchObject(UNAVAILABLE);
  await sleep(3000); // PgBouncer looks for such commands once a second
  await session.query('COMMIT');
  session.release();
  expect(await lock.acquire({ name: 'in time' })).toMatchObject({ kind: 'acquired' });
  expect(await direct.inspect('given up')).toBeUndefined();
});

describe('a PostgreSQL behind PgBouncer that is killed', () => {
  it('the backend is unavailable within its timeout, and available when the server is back', async () => {
    const upstream = await startPostgres();
    ended.push(() => upstream.close());
    const url = await bouncer(upstream.url, { server_login_retry: 1 });
    const lock = lockOf(postgresBackend({ client: pool(url), table, timeout: 1000 }));
    expect(await lock.acquire({ name: 'before' })).toMatchObject({ kind: 'acquired' });
    await upstream.kill();
    await expect(lock.acquire({ name: 'meanwhile' })).rejects.toMatchObject(UNAVAILABLE);
    await upstream.restart();
    const acquired = () =>
      lock.acquire({ name: 'after' }).then(
        ({ kind }) => kind,
        () => 'down',
      );
    await expect.poll(acquired).toBe('acquired');
    expect(await lock.acquire({ name: 'before' })).toMatchObject({ kind: 'held' });
  });
});
