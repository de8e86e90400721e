import { inspect } from 'node:util';
import {
  type ConnectionOptions,
  createConnection as createCallbackConnection,
  createPool as createCallbackPool,
} from 'mysql2';
import { createConnection, createPool } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type MysqlClient, mysqlBackend } from '../../../src/backends/mysql.ts';
import { MysqlSql } from '../../../src/backends/sql/mysql.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { lockWithoutBlocks } from './support/backends.ts';
import { type ConformanceSubject, conformance } from './support/conformance.ts';

// What sessions and clients of MySQL can be set to, and what the adapters must not depend on.

interface Mode {
  readonly name: string;
  /** Statements of the session. */
  readonly set?: readonly string[];
  readonly options?: ConnectionOptions;
}

const sqlMode = (mode: string): Mode => ({ name: `sql_mode ${mode}`, set: [`SET sql_mode = '${mode}'`] });
const charset = (name: string): Mode => ({ name: `charset ${name}`, options: { charset: name } });

const NO_BACKSLASHES = sqlMode('NO_BACKSLASH_ESCAPES');
const ANSI_QUOTES = sqlMode('ANSI_QUOTES,PIPES_AS_CONCAT');
const LATIN1 = charset('LATIN1_SWEDISH_CI');

const DEFAULT: Mode = { name: 'the default' };

/** Tried with each kind of client. */
const MAIN_MODES: readonly Mode[] = [
  DEFAULT,
  NO_BACKSLASHES,
  ANSI_QUOTES,
  LATIN1,
  sqlMode(''), // not strict
];

const MODES: readonly Mode[] = [
  ...MAIN_MODES,
  sqlMode('TRADITIONAL'),
  sqlMode('ANSI,NO_BACKSLASH_ESCAPES'),
  sqlMode('ORACLE'),
  sqlMode('MSSQL,HIGH_NOT_PRECEDENCE'),
  sqlMode('EMPTY_STRING_IS_NULL'),
  sqlMode('SIMULTANEOUS_ASSIGNMENT'),
  sqlMode('PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,TIME_ROUND_FRACTIONAL'),
  charset('UTF8_GENERAL_CI'),
  charset('UTF8MB4_BIN'),
  charset('SJIS_JAPANESE_CI'), // the second byte of a character may be a backslash
  charset('GBK_CHINESE_CI'),
  {
    name: 'a charset for results alone, and another collation',
    set: ['SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin', 'SET character_set_results = ascii'],
  },
  { name: 'stringifyObjects', options: { stringifyObjects: true } as ConnectionOptions },
  { name: 'namedPlaceholders', options: { namedPlaceholders: true } },
  { name: 'timezone', options: { timezone: '+05:45' }, set: [`SET time_zone = '-07:30'`] },
  { name: 'multipleStatements', options: { multipleStatements: true } },
  { name: 'bigNumberStrings', options: { supportBigNumbers: true, bigNumberStrings: true } },
  { name: 'dateStrings, decimalNumbers', options: { dateStrings: true, decimalNumbers: true } },
  { name: 'disableEval', options: { disableEval: true } as ConnectionOptions },
  { name: 'rowsAsArray', options: { rowsAsArray: true } },
  { name: 'nestTables', options: { nestTables: true } as ConnectionOptions },
  { name: 'nestTables with a text', options: { nestTables: '_' } as ConnectionOptions },
  { name: 'no typeCast', options: { typeCast: false } },
  { name: 'a typeCast of its own', options: { typeCast: () => 'cast' } },
  { name: 'a queryFormat of its own', options: { queryFormat } },
  { name: 'no FOUND_ROWS', options: { flags: ['-FOUND_ROWS'] } },
];

/** As the documents of the drivers have it. */
function queryFormat(sql: string, values: unknown): string {
  if (!values) return sql;
  return sql.replace(/:(\w+)/g, (found, name: string) => {
    const value = (values as Record<string, unknown>)[name];
    return value === undefined ? found : `'${String(value)}'`;
  });
}

interface Opened {
  readonly client: MysqlClient;
  end(): Promise<unknown>;
}

const CLIENTS: Readonly<Record<string, (mode: Mode) => Promise<Opened>>> = {
  'a pool of promises': async ({ set = [], options }) => {
    const pool = createPool({ uri: inject('mariadb').url, ...options });
    // Commands of a connection wait for those before them.
    pool.on('connection', (connection) => {
      for (const sql of set) void (connection as unknown as MysqlClient).query(plain(sql));
    });
    return { client: pool, end: () => pool.end() };
  },
  'a pool of callbacks': async ({ set = [], options }) => {
    const pool = createCallbackPool({ uri: inject('mariadb').url, ...options });
    pool.on('connection', (connection) => {
      for (const sql of set) connection.query(sql);
    });
    return { client: pool, end: () => pool.promise().end() };
  },
  'a connection of promises': async ({ set = [], options }) => {
    const connection = await createConnection({ uri: inject('mariadb').url, ...options });
    for (const sql of set) await connection.query(sql);
    return { client: connection, end: () => connection.end() };
  },
  'a connection of callbacks': async ({ set = [], options }) => {
    const connection = createCallbackConnection({ uri: inject('mariadb').url, ...options });
    for (const sql of set) await connection.promise().query(sql);
    return { client: connection, end: () => connection.promise().end() };
  },
};

const openPool = CLIENTS['a pool of promises'] as (mode: Mode) => Promise<Opened>;

function plain(sql: string): Parameters<MysqlClient['query']>[0] {
  return { sql } as Parameters<MysqlClient['query']>[0];
}

/** None of them begins with another. */
const TEXTS: readonly string[] = [
  "it's",
  'say "it"',
  '`tick`',
  'x\\y',
  '\\',
  "'\\'' \\",
  `\\" OR 1 = 1 -- `,
  "' OR 1 = 1 -- ",
  "'; DROP TABLE tickless_lock; -- ",
  '%',
  '_',
  'a%b_c',
  '\u{1f570}\ufe0f clock',
  '\u00e4\u00ff\u20ac',
  '\u8868\u80fd\u30bd', // end with a backslash in Shift-JIS
  '\ufeffmark',
  ':name :token',
  '? ?? ???',
  '/* comment',
  '-- comment',
  '# comment',
  'line\nline\r\nline\x1a\b\t',
  "X'41'",
  'FROM_BASE64(:payload)',
  '$& $1 $$ $`',
  'space ',
  ' blank',
];

let tables = 0;

describe.each(MODES)('$name', (mode) => {
  const clients = MAIN_MODES.includes(mode) ? Object.keys(CLIENTS) : ['a pool of promises'];
  const opened: Opened[] = [];
  afterEach(async () => {
    for (const { end } of opened.splice(0)) await end();
  });
  const open = async (kind: string): Promise<MysqlClient> => {
    const connect = CLIENTS[kind] as (mode: Mode) => Promise<Opened>;
    const one = await connect(mode);
    opened.push(one);
    return one.client;
  };

  it.each(clients)('%s: texts come back as they are', async (kind) => {
    const client = await open(kind);
    const table = `modes_${process.pid}_${++tables}`;
    const store = storeOf(mysqlBackend({ client, table: `${table}_store` }));
    await expectTexts(lockOf(mysqlBackend({ client, table })), store);
    await expectTexts(lockWithoutBlocks(client, `${table}_as_mysql`), store);
  });

  it.each(clients)('%s: no text is a part of a statement', async (kind) => {
    const client = await open(kind);
    const table = `modes_${process.pid}_${++tables}`;
    const lock = lockOf(mysqlBackend({ client, table }));
    const store = storeOf(mysqlBackend({ client, table: `${table}_store` }));
    const theirs = 'other-team';
    const digits = Buffer.from(theirs).toString('hex');
    const { token, requestId } = await leaseOf(lock, { name: theirs });
    const { version } = await store.write(theirs, 'payload');
    for (const quote of [`'`, `\\'`, `"`, `\\"`, `''`, `%27`, '\u00bf\u0027', '\ubf27', '\u2019']) {
      const name = `${quote} OR name=0x${digits} -- `;
      expect(await lock.inspect(name)).toBeUndefined();
      expect(await lock.list({ prefix: name })).toEqual([]);
      expect(await lock.forceRelease(name, token)).toBe(false);
      expect(await lock.extend({ name, token, requestId })).toBe(false);
      expect(await lock.release({ name, token, requestId }, { as: 'abandoned' })).toBe(false);
      expect(await store.read(name)).toBeUndefined();
      expect(await store.delete(name)).toBe(false);
    }
    expect(await lock.inspect(theirs)).toMatchObject({ state: 'running', token });
    expect(await store.read(theirs)).toMatchObject({ version, payload: 'payload' });
  });
});

/** @param table a new one */
async function inMode(mode: Mode, use: (client: MysqlClient, table: string) => Promise<void>): Promise<void> {
  const { client, end } = await openPool(mode);
  try {
    await use(client, `modes_${process.pid}_${++tables}`);
  } finally {
    await end();
  }
}

it('an error shows no payload, however deep one looks', () =>
  inMode(DEFAULT, async (client, table) => {
    const store = storeOf(mysqlBackend({ client, table }));
    await store.write('rates', 'one');
    await new MysqlSql(client, 3000).change(`ALTER TABLE ${table} CHANGE body other LONGTEXT`, {});
    for (const payload of ['of nobody else', 'in a compressed text, of nobody else '.repeat(9999)]) {
      const error: unknown = await store.write('rates', payload).then(
        () => expect.unreachable(),
        (error) => error,
      );
      const shown = inspect(error, { depth: 20, showHidden: true, maxStringLength: Infinity });
      expect(shown).toMatch(/unknown column/i);
      expect(shown.length).toBeLessThan(20_000);
      expect(shown).not.toContain(Buffer.from('nobody').toString('hex'));
    }
  }));

/** Every text as everything that a text can be. */
async function expectTexts(lock: Lock, store: Store): Promise<void> {
  await lock.inspect('table');
  await store.read('table');
  for (const text of TEXTS) {
    const request = { name: text, owner: text, requestId: text, host: text, leaseFor: 60_000 };
    const lease = await leaseOf(lock, request);
    const { name, owner, requestId, host } = request;
    expect(lease, text).toMatchObject({ name, owner, requestId });
    // The same request again, and another one.
    expect(await lock.acquire(request), text).toMatchObject({ kind: 'acquired' });
    expect(await lock.acquire({ name }), text).toMatchObject({ kind: 'held', owner, host });
    expect(await lock.extend(lease, 60_000), text).toBe(true);
    const error = `${text}\0${text}`;
    const [record, ...others] = await lock.list({ prefix: text });
    expect(others, text).toEqual([]);
    expect(record, text).toMatchObject({ name, owner, host, state: 'running' });
    // Told again it changes nothing, and is answered the same.
    for (let time = 0; time < 2; time += 1)
      expect(await lock.release(lease, { as: 'failed', holdFor: 60_000, error }), text).toBe(true);
    const failed = { name, owner, host, state: 'failed', lastError: error };
    expect(await lock.inspect(name), text).toMatchObject(failed);
    expect(await lock.acquire({ name }), text).toMatchObject({ kind: 'held', isBackoff: true });
    expect(await lock.acquire({ name, force: true }), text).toMatchObject({ kind: 'acquired' });

    const payload = JSON.stringify({ [text]: text });
    const first = await store.write(name, text);
    expect(await store.read(name), text).toMatchObject({ payload: text, version: first.version });
    const token = first.version + 1;
    expect(await store.write(name, payload, token), text).toEqual({ kind: 'written', version: token });
    expect(await store.write(name, 'late', first.version), text).toEqual({ kind: 'refused', version: token });
    expect(await store.read(name), text).toMatchObject({ payload, version: token });
  }
  expect((await lock.list()).map(({ name }) => name)).toEqual([...TEXTS].sort());
  const all = JSON.stringify(TEXTS);
  for (const payload of ['', 'nul\0nul', TEXTS.join(''), all.repeat(1000)]) {
    await store.write('all', payload);
    expect((await store.read('all'))?.payload === payload).toBe(true);
  }
  for (const name of [...TEXTS, 'all']) expect(await store.delete(name), name).toBe(true);
}

it('long texts of a lock go through on a server that is not strict', () =>
  inMode(sqlMode(''), async (client, table) => {
    const lock = lockOf(mysqlBackend({ client, table }));
    const long = '\u00e4'.repeat(20_000);
    const request = { name: 'long', owner: long, requestId: long, host: long };
    for (let time = 0; time < 2; time++) {
      expect(await lock.acquire(request)).toMatchObject({ kind: 'acquired' });
    }
    expect(await lock.inspect('long')).toMatchObject({ owner: long, host: long });
  }));

it('a payload of 12 MB goes through; one that is too long is refused, and the pool works on', () =>
  inMode(LATIN1, async (client, table) => {
    const store = storeOf(mysqlBackend({ client, table, timeout: 30_000 }));
    const payload = `'\\\u00e4"`.repeat(2_400_000); // 12 million bytes
    await store.write('long', payload);
    expect((await store.read('long'))?.payload === payload).toBe(true);
    await expect(store.write('long', payload + payload)).rejects.toMatchObject({
      code: 'BACKEND_DOWN',
    });
    await store.write('long', 'short');
    expect(await store.read('long')).toMatchObject({ payload: 'short' });
  }));

describe.each([NO_BACKSLASHES, ANSI_QUOTES, LATIN1])('conformance: $name', (mode) => {
  const table = `modes_${process.pid}_${++tables}`;
  const all: Opened[] = [];
  beforeAll(async () => {
    const nowhere = { ...mode, options: { ...mode.options, port: 1 } };
    for (const each of [mode, mode, nowhere]) all.push(await openPool(each));
  });
  afterAll(() => Promise.all(all.map(({ end }) => end())));

  const client = (i: number): MysqlClient => (all[i] as Opened).client;
  const open =
    (i: number): ConformanceSubject['one'] =>
    (options) => ({
      lock: lockOf(mysqlBackend({ client: client(i), table, ...options })),
      store: storeOf(mysqlBackend({ client: client(i), table: `${table}_store`, ...options })),
    });
  const forget = async (name: string): Promise<void> => {
    const id = { name: `name/${name}` };
    await new MysqlSql(client(0), 3000).change(`DELETE FROM ${table} WHERE name = :name`, id);
  };
  conformance({ one: open(0), another: open(1), none: open(2), edits: { forget } });
});
