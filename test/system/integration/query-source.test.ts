import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import Sqlite from 'better-sqlite3';
import { createPool as createCallbackPool } from 'mysql2';
import { createConnection, createPool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type QueryClient, type QuerySourceOptions, querySource } from '../../../src/sources/index.ts';
import type { SqliteQueryClient } from '../../../src/sources/queries/client-types.ts';
import { rejectionOf } from '../../support/settle.ts';
import { SourceUser } from '../../unit/sources/source-context.ts';
import { runFixture } from './support/child.ts';
import { type FaultProxy, startProxy } from './support/proxy.ts';
import { startPgbouncer } from './support/servers.ts';

const table = `query_source_${process.pid}`;
const ended: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A database as one of its drivers reaches it. */
interface Driver {
  /** With one connection at a time, where it has several. */
  connect(url: string): Promise<QueryClient> | QueryClient;
  readonly server: 'postgres' | 'mariadb';
  /** A load has a transaction and bounds of its own. */
  readonly isPool: boolean;
}

const DRIVERS: Readonly<Record<string, Driver>> = {
  'a pool of pg': {
    server: 'postgres',
    isPool: true,
    connect(connectionString) {
      const client = new pg.Pool({ connectionString, max: 1 });
      client.on('error', () => {});
      ended.push(() => client.end());
      return client;
    },
  },
  'a connection of pg': {
    server: 'postgres',
    isPool: false,
    async connect(connectionString) {
      const client = new pg.Client({ connectionString });
      client.on('error', () => {});
      await client.connect();
      ended.push(() => client.end());
      return client;
    },
  },
  'postgres.js': {
    server: 'postgres',
    isPool: false,
    connect(url) {
      const client = postgres(url, { max: 1, onnotice: () => {} });
      ended.push(() => client.end({ timeout: 5 }));
      return client;
    },
  },
  'a pool of mysql2/promise': {
    server: 'mariadb',
    isPool: true,
    connect(uri) {
      const client = createPool({ uri, connectionLimit: 1 });
      ended.push(() => client.end());
      return client;
    },
  },
  'a pool of mysql2 with callbacks': {
    server: 'mariadb',
    isPool: true,
    connect(uri) {
      const client = createCallbackPool({ uri, connectionLimit: 1 });
      ended.push(() => client.promise().end());
      return client;
    },
  },
  'a connection of mysql2': {
    server: 'mariadb',
    isPool: false,
    async connect(uri) {
      const client = await createConnection({ uri });
      client.on('error', () => {});
      ended.push(() => client.end());
      return client;
    },
  },
};

/** What differs between the two. */
const DIALECTS = {
  postgres: {
    place: '$1',
    slow: 'SELECT pg_sleep(20)',
    late: 'pg_sleep(0.3)',
    many: 'SELECT generate_series(1, 1000000000) AS n',
    timedOut: /statement timeout/,
    endOthers: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`,
    settings: 'SELECT current_setting($$statement_timeout$$) AS time',
    edits: [
      ['TIMESTAMPTZ', "'2026-01-01T00:00:00.123456Z'", "'2026-01-01T00:00:00.123457Z'"],
      ['BIGINT', '9007199254740992', '9007199254740993'],
      ['NUMERIC', '0.10000000000000000001', '0.10000000000000000002'],
      ['BYTEA', "'\\xfffe'", "'\\xfffd'"],
      ['TEXT', 'NULL', "''"],
    ],
  },
  mariadb: {
    place: '?',
    slow: 'SELECT SLEEP(20)',
    late: 'SLEEP(0.3)',
    many: 'SELECT seq AS n FROM seq_1_to_1000000000',
    timedOut: /max_statement_time|Query execution was interrupted/,
    endOthers: '',
    settings: 'SELECT @@SESSION.max_statement_time AS time, @@SESSION.sql_select_limit AS num',
    edits: [
      ['DATETIME(6)', "'2026-01-01 00:00:00.123456'", "'2026-01-01 00:00:00.123457'"],
      ['BIGINT', '9007199254740992', '9007199254740993'],
      ['DECIMAL(65, 30)', '0.10000000000000000001', '0.10000000000000000002'],
      ['BLOB', "x'fffe'", "x'fffd'"],
      ['TEXT', 'NULL', "''"],
    ],
  },
} as const;

const admins = {
  postgres: async (sql: string): Promise<unknown> => (await postgresAdmin.query(sql)).rows,
  mariadb: async (sql: string): Promise<unknown> => (await mariadbAdmin.query(sql))[0],
};
const postgresAdmin = new pg.Pool({ connectionString: inject('postgres').url });
const mariadbAdmin = createPool({ uri: inject('mariadb').url });
ended.push(
  () => postgresAdmin.end(),
  () => mariadbAdmin.end(),
);

describe.each(Object.entries(DRIVERS))('%s', (_, { connect, server, isPool }) => {
  const admin = admins[server];
  const dialect = DIALECTS[server];
  const { url } = inject(server);
  const changed = `SELECT max(id), count(*) FROM ${table}`;
  let client: QueryClient;
  const user = (options: Partial<QuerySourceOptions<unknown>> = {}) =>
    new SourceUser(querySource({ client, sql: `SELECT id, v FROM ${table} ORDER BY id`, ...options }));

  beforeAll(async () => {
    client = await connect(url);
    await admin(`DROP TABLE IF EXISTS ${table}`);
    await admin(`CREATE TABLE ${table} (id BIGINT, v TEXT)`);
    await admin(`INSERT INTO ${table} VALUES (1, 'a'), (2, 'b')`);
  });

  it('reads the rows, and keeps them while the cheap query has the same answer', async () => {
    const rows = user({ changed, map: (all) => all.map(({ id, v }) => `${id}${v}`) });
    expect(await rows.load()).toEqual(['1a', '2b']);
    expect(rows.meta).toEqual({
      source: `SELECT id, v FROM ${table} ORDER BY id`,
      changed: expect.stringMatching(/^\[\[.*2.*2.*\]\]$/),
    });
    expect(await rows.load()).toBe('kept');
    await admin(`INSERT INTO ${table} VALUES (3, 'c')`);
    expect(await rows.load()).toEqual(['1a', '2b', '3c']);
    expect(await rows.load()).toBe('kept');
    await admin(`DELETE FROM ${table} WHERE id = 3`);
    expect(await rows.load()).toEqual(['1a', '2b']);
  });

  it('sees each column of the cheap query, also of two with one name', async () => {
    const max = (from: string): string => `(SELECT max(id) FROM ${table} WHERE v ${from}) AS v`;
    const rows = user({ changed: `SELECT ${max("= 'c'")}, ${max("<> 'c'")}` });
    expect(await rows.load()).toHaveLength(2);
    expect(await rows.load()).toBe('kept');
    await admin(`INSERT INTO ${table} VALUES (3, 'c')`);
    expect(await rows.load()).toHaveLength(3);
    expect(await rows.load()).toBe('kept');
    await admin(`DELETE FROM ${table} WHERE id = 3`);
  });

  it.each<readonly [string, string, string]>(dialect.edits)(
    'sees an edit of a column %s that the driver may not show',
    async (type, before, after) => {
      const own = `${table}_edited`;
      await admin(`DROP TABLE IF EXISTS ${own}`);
      await admin(`CREATE TABLE ${own} (v ${type})`);
      await admin(`INSERT INTO ${own} VALUES (${before})`);
      const rows = user({ changed: `SELECT v FROM ${own}` });
      expect(await rows.load()).toHaveLength(2);
      expect(await rows.load()).toBe('kept');
      await admin(`UPDATE ${own} SET v = ${after}`);
      expect(await rows.load()).toHaveLength(2);
      expect(await rows.load()).toBe('kept');
    },
  );

  it('rows are plain objects', async () => {
    const found = (await user().load()) as object[];
    expect(found.map(Object.getPrototypeOf)).toEqual([Object.prototype, Object.prototype]);
  });

  it('refuses more rows than it may have, and a pool does not read them from the server', async () => {
    for (const maxRows of [2, Infinity]) expect(await user({ maxRows }).load()).toHaveLength(2);
    await expect(user({ maxRows: 1 }).load()).rejects.toThrow('it has more than maxRows (1) rows');
    if (!isPool) return;
    const many = user({ sql: dialect.many, maxRows: 10 });
    await expect(many.load()).rejects.toThrow('more than maxRows (10) rows');
  });

  it('names the statement that failed', async () => {
    const load = user({ sql: 'SELECT v FROM nowhere_at_all' }).load();
    await expect(load).rejects.toThrow(/^query failed: .*nowhere_at_all.* \(SELECT v FROM nowhere_at_all\)$/);
    await expect(user({ map: () => JSON.parse('{') }).load()).rejects.toThrow(
      /^map failed: .* \(SELECT id, v/,
    );
    expect(await user().load()).toHaveLength(2);
  });

  it('values of the statement are not shown, however deep one looks into an error', async () => {
    const statement = (from: string) => `SELECT v FROM ${from} WHERE v = ${dialect.place}`;
    const params = ['of nobody else'];
    const rows = user({ sql: `${statement(table)};`, params });
    expect(await rows.load()).toEqual([]);
    expect(rows.meta?.source).toMatch(/^SELECT v FROM \w+ WHERE v = (\$1|\?); #[0-9a-f]{16}$/);
    const error = await rejectionOf(user({ sql: statement('nowhere_at_all'), params }).load());
    const shown = inspect(error, { depth: 20 });
    expect(shown).toContain('nowhere_at_all');
    expect(shown).not.toContain('nobody');
  });

  it('keeps the value of a RefreshingValue while the table is away', async () => {
    const load = querySource({ client, sql: `SELECT id FROM ${table}`, map: (rows) => rows.length });
    const value = new RefreshingValue({ name: 'rows', load, retry: false, logger: false });
    expect(await value.get()).toBe(2);
    await admin(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    await expect(value.refresh()).rejects.toThrow();
    expect(value.current).toBe(2);
    await admin(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    expect(await value.refresh()).toBe(2);
    await value.close();
  });

  it('its signal ends the wait of the load', async () => {
    const control = new AbortController();
    const reason = new Error('enough');
    const load = user({ sql: `SELECT ${dialect.late}` }).load(control.signal);
    setTimeout(() => control.abort(reason), 50);
    await expect(load).rejects.toBe(reason);
    await expect(user().load(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(await user().load()).toHaveLength(2);
  });

  if (!isPool) return; // the rest is done by the transaction of a pool

  it('the server ends a slow statement at the timeout, and the connection serves the next load', async () => {
    await expect(user({ sql: dialect.slow, timeout: 100 }).load()).rejects.toThrow(dialect.timedOut);
    expect(await user().load()).toHaveLength(2);
  });

  it('its signal ends the load at once, and a later load has a connection', async () => {
    const control = new AbortController();
    const reason = new Error('enough');
    const load = user({ sql: dialect.slow, timeout: 1000 }).load(control.signal);
    await sleep(100);
    control.abort(reason);
    await expect(load).rejects.toBe(reason);
    expect(await user().load()).toHaveLength(2);
  });

  it('a connection that is killed fails the load, and a later load has another one', async () => {
    const load = user({ sql: dialect.slow }).load();
    const failed = expect(load).rejects.toThrow('query failed: ');
    await sleep(100);
    if (server === 'postgres') await admin(dialect.endOthers);
    else {
      const others = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(20)%'";
      for (const { id } of (await admin(others)) as { id: number }[]) await admin(`KILL ${id}`);
    }
    await failed;
    expect(await user().load()).toHaveLength(2);
  });

  it('sees one snapshot with both queries, and an edit between them the next time', async () => {
    const rows = user({ changed: `SELECT max(id), ${dialect.late} FROM ${table}` });
    const load = rows.load();
    await sleep(150);
    await admin(`INSERT INTO ${table} VALUES (4, 'd')`);
    expect(await load).toHaveLength(2);
    expect(await rows.load()).toHaveLength(3);
    await admin(`DELETE FROM ${table} WHERE id = 4`);
  });

  it('may not change anything, and leaves no setting behind', async () => {
    const before = await user({ sql: dialect.settings }).load();
    const insert = `INSERT INTO ${table} VALUES (5, 'e')`;
    await expect(user({ sql: insert }).load()).rejects.toThrow('query failed: ');
    await expect(
      user({ sql: `WITH a AS (${insert} RETURNING id) SELECT id FROM a` }).load(),
    ).rejects.toThrow();
    expect(await admin(`SELECT id FROM ${table} WHERE id = 5`)).toEqual([]);
    expect(before).toEqual([expect.objectContaining(server === 'postgres' ? { time: '30s' } : { time: 30 })]);
  });

  it.each([
    'CREATE TABLE $evil (a int)',
    'DROP TABLE $victim',
    'TRUNCATE TABLE $victim',
    'ALTER TABLE $victim ADD COLUMN b int',
    'CREATE INDEX $evil ON $victim (a)',
    'CREATE VIEW $evil AS SELECT 1 AS one',
    'DELETE FROM $victim',
    'UPDATE $victim SET a = 2',
    'GRANT SELECT ON $victim TO PUBLIC',
    'SELECT 1; COMMIT; DROP TABLE $victim',
    'COMMIT',
    'COMMIT AND CHAIN',
    'ROLLBACK',
    'CREATE SCHEMA $evil',
    'ANALYZE TABLE $victim',
    'OPTIMIZE TABLE $victim',
    'REPAIR TABLE $victim',
    'LOCK TABLES $victim WRITE',
    'RENAME TABLE $victim TO $evil',
    'SET SESSION TRANSACTION READ WRITE',
    'SELECT a FROM $victim FOR UPDATE',
    'SELECT NEXTVAL($sequence)',
    "SELECT NEXTVAL('$sequence')",
    'INSERT INTO $victim VALUES (3) RETURNING a',
  ])('as a query or as the cheap one, it changes nothing: %s', async (template) => {
    const [victim, evil, sequence] = [`${table}_victim`, `${table}_evil`, `${table}_sequence`];
    const drop = `DROP TABLE IF EXISTS ${victim}, ${evil}`;
    await admin(drop);
    await admin(`CREATE TABLE ${victim} (a int)`);
    await admin(`INSERT INTO ${victim} VALUES (1)`);
    await admin(`CREATE SEQUENCE IF NOT EXISTS ${sequence}`);
    const sql = template
      .replaceAll('$victim', victim)
      .replaceAll('$evil', evil)
      .replaceAll('$sequence', sequence);
    const state = async (): Promise<unknown> => [
      await admin(`SELECT * FROM ${victim}`),
      await admin(
        `SELECT table_name AS n, column_name AS c FROM information_schema.columns WHERE table_name IN ('${victim}', '${evil}') ORDER BY 1, 2`,
      ),
      server === 'mariadb'
        ? await admin(`SELECT next_not_cached_value AS n FROM ${sequence}`)
        : await admin(`SELECT last_value, is_called FROM ${sequence}`),
    ];
    const before = await state();
    await Promise.allSettled([user({ sql }).load()]);
    await Promise.allSettled([user({ sql: 'SELECT 1 AS one', changed: sql }).load()]);
    expect(await state()).toEqual(before);
    expect(await user({ sql: dialect.settings }).load()).toHaveLength(1); // a connection that works
    await admin(`DROP SEQUENCE ${sequence}`);
    await admin(drop);
  });

  it('waits for a connection until its signal, and asks nothing then', async () => {
    const held = user({ sql: `SELECT ${dialect.late}` }).load();
    const control = new AbortController();
    const late = user({ sql: dialect.slow }).load(control.signal);
    setTimeout(() => control.abort(new Error('too late')), 50);
    await expect(late).rejects.toThrow('too late');
    await held;
    expect(await user().load()).toHaveLength(2);
  });

  it('fails while the server is out of reach, and loads when it is back', async () => {
    const proxy: FaultProxy = await startProxy({ kind: server, url });
    client = await connect(proxy.url);
    expect(await user().load()).toHaveLength(2);
    const slow = user({ sql: dialect.slow }).load();
    await Promise.all([expect(slow).rejects.toThrow('query failed: '), sleep(100).then(() => proxy.cut())]);
    proxy.partition();
    const control = new AbortController();
    const load = user().load(control.signal);
    setTimeout(() => control.abort(new Error('too late')), 200);
    await expect(load).rejects.toThrow('too late');
    proxy.heal();
    expect(await user().load()).toHaveLength(2);
    await proxy.close();
    client = await connect(url);
  });
});

describe('settings of the session', () => {
  it('a pooled connection of mysql2 gets its own back', async () => {
    const client = createPool({ uri: inject('mariadb').url, connectionLimit: 1 });
    ended.push(() => client.end());
    await client.query('SET SESSION sql_select_limit = 7, SESSION max_statement_time = 9');
    await client.query('CREATE TEMPORARY TABLE writable (id int)');
    const rows = new SourceUser(
      querySource({ client, sql: 'SELECT @@SESSION.sql_select_limit AS n', maxRows: 3 }),
    );
    expect(await rows.load()).toEqual([{ n: 4 }]);
    const [found] = await client.query(
      'SELECT @@SESSION.sql_select_limit AS n, @@SESSION.max_statement_time AS t, @@in_transaction AS i',
    );
    expect(found).toMatchObject([{ n: 7, i: 0 }]);
    expect(Number((found as { t: unknown }[])[0]?.t)).toBe(9);
    await client.query(`CREATE TABLE ${table}_written (id int)`);
    await client.query(`DROP TABLE ${table}_written`);
    await client.query('SET SESSION TRANSACTION READ ONLY');
    await rows.load();
    expect((await client.query('SELECT @@SESSION.tx_read_only AS r'))[0]).toEqual([{ r: 1 }]);
  });

  it('a pooled connection of pg has its own, and no transaction', async () => {
    const client = new pg.Pool({ connectionString: inject('postgres').url, max: 1 });
    client.on('error', () => {});
    ended.push(() => client.end());
    await client.query("SET statement_timeout = '9s'");
    await new SourceUser(querySource({ client, sql: 'SELECT 1' })).load();
    const { rows } = await client.query('SHOW statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '9s' }]);
    await client.query('CREATE TEMPORARY TABLE writable (id int)');
  });
});

describe('PgBouncer in transaction mode', () => {
  it.each(['a pool of pg', 'postgres.js'] as const)('%s', async (name) => {
    const given = process.env.PGBOUNCER_URL;
    const bouncer = given === undefined ? await startPgbouncer(inject('postgres').url) : undefined;
    const client = await (DRIVERS[name] as Driver).connect(given ?? String(bouncer?.url));
    const load = async (n: number): Promise<unknown> => {
      const options = { client, sql: 'SELECT $1::int AS n', params: [n], changed: 'SELECT 1 AS one' };
      const rows = new SourceUser(querySource(options));
      return [await rows.load(), await rows.load()];
    };
    const found = await Promise.all([1, 2, 3, 4, 5].map(load));
    expect(found).toEqual([1, 2, 3, 4, 5].map((n) => [[{ n }], 'kept']));
    if (bouncer !== undefined) ended.push(() => bouncer.close());
  });
});

describe('SQLite', () => {
  const database = (statements = ''): Sqlite.Database => {
    const client = new Sqlite(':memory:');
    ended.push(() => client.close());
    return client.exec(statements);
  };
  const user = (options: QuerySourceOptions<unknown>) => new SourceUser(querySource(options));

  it('by better-sqlite3', async () => {
    const client = database("CREATE TABLE t (id INTEGER, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    const sql = 'SELECT * FROM t WHERE id < ?';
    const options = { client, sql, params: [9], changed: 'SELECT max(id) FROM t' };
    const rows = user(options);
    expect(await rows.load()).toEqual([
      { id: 1, v: 'a' },
      { id: 2, v: 'b' },
    ]);
    expect(await rows.load()).toBe('kept');
    client.exec("INSERT INTO t VALUES (3, 'c')");
    expect(await rows.load()).toHaveLength(3);
    const bounded = user({ ...options, maxRows: 2 }).load();
    await expect(bounded).rejects.toThrow('it has more than maxRows (2) rows');
    client.exec("INSERT INTO t VALUES (4, 'd')"); // no statement is still being read
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
    const most = user({ client, sql: endless, maxRows: 10 }).load();
    await expect(most).rejects.toThrow('it has more than maxRows (10) rows');
  });

  it('sees each column of the cheap query, also of two with one name', async () => {
    const client = database('CREATE TABLE a (v INTEGER); INSERT INTO a VALUES (1)');
    const changed = 'SELECT (SELECT max(v) FROM a) AS v, 1 AS v';
    const rows = user({ client, sql: 'SELECT v FROM a', changed });
    expect(await rows.load()).toEqual([{ v: 1 }]);
    client.exec('UPDATE a SET v = 2');
    expect(await rows.load()).toEqual([{ v: 2 }]);
    expect(await rows.load()).toBe('kept');
    client.exec('UPDATE a SET v = 9007199254740992');
    expect(await rows.load()).toEqual([{ v: 2 ** 53 }]);
    client.exec('UPDATE a SET v = v + 1'); // there is no number for it
    expect(await rows.load()).toEqual([{ v: 2 ** 53 }]);
    expect(await rows.load()).toBe('kept');
  });

  it('keeps the hash of a long answer of the cheap query, and any type of column', async () => {
    const client = database('CREATE TABLE t (id INTEGER, v TEXT, b BLOB)').defaultSafeIntegers();
    client.exec("INSERT INTO t VALUES (9007199254740993, 'a', x'ff')");
    const changed = "SELECT id, b, printf('%300s', v) FROM t";
    const long = user({ client, sql: 'SELECT id FROM t', changed });
    expect(await long.load()).toEqual([{ id: 9_007_199_254_740_993n }]);
    expect(long.meta?.changed).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await long.load()).toBe('kept');
    client.exec('UPDATE t SET id = 9007199254740995');
    expect(await long.load()).toEqual([{ id: 9_007_199_254_740_995n }]);
    client.exec("UPDATE t SET b = x'fe'");
    expect(await long.load()).not.toBe('kept');
  });

  it('does not keep the value of another statement, or of other values', async () => {
    const [client, changed] = [database(), 'SELECT 1'];
    const one = user({ client, sql: 'SELECT ? AS n', params: [1], changed });
    await one.load();
    const others = [
      { sql: 'SELECT ? AS n', params: [2] },
      { sql: `SELECT ? AS n -- ${'x'.repeat(300)}a`, params: [1] },
      { sql: `SELECT ? AS n -- ${'x'.repeat(300)}b`, params: [1] },
      { sql: 'SELECT ? AS n', params: [1], source: 'another database' },
    ];
    for (const other of others) {
      const another = user({ client, changed, ...other });
      another.previous = one.previous;
      expect(await another.load()).toEqual([{ n: other.params[0] }]);
      expect(await another.load()).toBe('kept');
      one.previous = another.previous;
    }
  });

  it.each<[string, () => Promise<SqliteQueryClient & { exec(sql: string): unknown }>]>([
    ['better-sqlite3', async () => new Sqlite(':memory:')],
    ['node:sqlite', async () => new (await import('node:sqlite')).DatabaseSync(':memory:')],
  ])('may not change anything, and leaves no setting behind: %s', async (name, open) => {
    if (name === 'node:sqlite' && process.getBuiltinModule('node:sqlite' as 'node:fs') === undefined) return;
    const client = await open();
    client.exec('CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1)');
    const rows = (sql: string, more = {}) => user({ client, sql, ...more });
    for (const sql of [
      'INSERT INTO t VALUES (2) RETURNING id',
      'DELETE FROM t',
      'UPDATE t SET id = 2 RETURNING id',
      'DROP TABLE t',
      'CREATE TABLE evil (id INTEGER)',
      'PRAGMA user_version = 7',
    ]) {
      await expect(rows(sql).load()).rejects.toThrow('query failed: ');
      await expect(rows('SELECT 1', { changed: sql }).load()).rejects.toThrow('changed failed: ');
    }
    expect(await rows('SELECT id, (SELECT count(*) FROM sqlite_schema) AS n FROM t').load()).toEqual([
      { id: 1, n: 1 },
    ]);
    expect(await rows('PRAGMA query_only').load()).toHaveLength(1);
    client.exec('INSERT INTO t VALUES (2)');
    expect(await rows('SELECT id FROM t').load()).toHaveLength(2);
  });

  it('a database that is closed', async () => {
    const client = new Sqlite(':memory:');
    client.close();
    const message = 'query failed: The database connection is not open (SELECT 1)';
    await expect(user({ client, sql: 'SELECT 1' }).load()).rejects.toThrow(message);
  });

  const node = inject('nodeWithSqlite');
  it.runIf(node !== undefined)('by node:sqlite', async () => {
    const { lines, stderr } = await runFixture('sqlite-query', { node });
    expect(stderr).toBe('');
    const [a, b, c] = ['a', 'b', 'c'].map((v, i) => ({ id: i + 1, v }));
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual([
      [a, b],
      'kept',
      [a, b, c],
      expect.stringMatching(
        /^query failed: it has more than maxRows \(2\) rows \(SELECT \* FROM t WHERE id < \? #/,
      ),
    ]);
  });
});
