import Database from 'better-sqlite3';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { recordLines } from '../../support/events.ts';
import { leaseOf } from '../../support/lease.ts';
import { type Parts, partsOf } from '../../support/parts.ts';
import { backends, type Connected, editRecord, lockKey, lockTable } from './support/backends.ts';
import { type Dialect, sqlFields } from './support/edits.ts';

// Records and snapshots that somebody has edited with the tools of the engine, any field with anything: the adapters
// answer or say what is wrong, and values over them are served.

const SPACE = `edited_${process.pid}`;
const NAME = 'v';
const PARTS = { lock: 'lock', store: 'snapshot' } as const;
const HELD = { rates: { USD: 1.08 } };
const LOADED = 'loaded anew';

/** What is put into a field: a literal of SQL, or a text for Redis. */
type Edit = readonly [field: string, value: string];

interface Engine extends Parts {
  /** One more object of the same backend. */
  readonly open: () => Parts;
  /** Changes the record (or the snapshot) as it is. @returns whether the engine has taken that. */
  edit(what: 'lock' | 'store', edits: readonly Edit[]): Promise<boolean>;
  empty(): Promise<void>;
  close(): Promise<void>;
}

const COLUMNS: readonly string[] = ['body', 'main', 'expires_at'];

/** Of the part in the text of a row. */
const RECORD_FIELDS = [
  ...['token', 'id', 'phase', 'at', 'changedAt', 'until', 'longest', 'text', 'note', 'replaced', 'keepMs'],
  ...['older', 'other'],
];

const RECORD = [
  'token',
  'id',
  'phase',
  'until',
  'at',
  'changedAt',
  'text',
  'note',
  'replaced',
  'other',
] as const;

/** Those of the hash stand for themselves, all others are in the record. */
const HASH: readonly string[] = ['record', 'main', 'brief'];
const FIELDS = {
  lock: [...RECORD, 'longest', 'older', ...HASH],
  store: [...RECORD, 'keepMs', 'older', ...HASH],
} as const;

/** A lock and its snapshot have them together. */
const OF_BOTH: readonly string[] = [...COLUMNS, ...HASH];

/** The fields that decide nothing. The text of a record in SQL may be of a type that makes it unreadable. */
const FOR_PEOPLE = { redis: ['text', 'replaced', 'other'], sql: ['main', 'replaced', 'other'] } as const;

const LITERALS = [
  ...['NULL', "''", "'abc'", '0', '1', '-1', '0.5', '1e300', '9007199254740991', '9007199254740993'],
  ...['9223372036854775807', '-9223372036854775808', "'infinity'", "'-infinity'", "'NaN'", "X'00ff'"],
  ...["'0000-00-00 00:00:00'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'running'", "'done'"],
  ...["'failed'", "'released'", 'TRUE', 'CURRENT_TIMESTAMP', `'{"__proto__":{"polluted":true}}'`],
  "'\\\\0\n\u001b[2J'",
];

/** The last token is in them. */
const HAS_TOKEN: readonly string[] = ['token', 'body'];

/** As JSON. */
const VALUES = [
  ...['null', '""', '"abc"', '0', '1', '-1', '0.5', '1e15', '1e300', '9007199254740991', '9007199254740993'],
  ...['9223372036854775807', '-9223372036854775808', '"running"', '"done"', '"failed"', '"released"', 'true'],
  ...['[]', '{}', '[{}]', '{"__proto__":{"polluted":true}}', '"\\u001b[2J"'],
];

/** One that is gone. */
const LONG_TEXT = '{"id":"gone","bytes":5000}';

const TEXTS = [
  ...['', 'abc', '0', '1', '-1', '0.5', '1e15', '1e300', '1e400', 'nan', 'inf', '-inf', '0x10'],
  ...['9007199254740990', '9007199254740991', '9223372036854775807', 'running', 'done', 'failed'],
  ...['released', '\0', '\u001b[2J\n', '{"__proto__":{"polluted":true}}', 'x'.repeat(100_000)],
];

async function sqlEngine(
  dialect: Dialect,
  open: () => Parts,
  table: string,
  run: (sql: string) => Promise<unknown>,
  close: () => Promise<unknown>,
): Promise<Engine> {
  const parts = open();
  await parts.lock.acquire({ name: 'warm-up' });
  return {
    ...parts,
    open,
    async edit(what, edits) {
      const part = PARTS[what];
      const columns = edits.filter(([field]) => COLUMNS.includes(field));
      const fields = edits.filter(([field]) => !COLUMNS.includes(field));
      const record = `{${fields.map(([field, value]) => `"${field}":${value}`).join(',')}}`;
      const isReplaced = columns.some(([field]) => field === 'body');
      const assignments = [
        ...columns.map(([field, value]) => `${field} = ${value}`),
        ...(isReplaced || fields.length === 0 ? [] : [sqlFields(dialect, part, record)]),
      ];
      try {
        await run(`UPDATE ${table} SET ${assignments.join(', ')} WHERE name = 'name/${NAME}' AND part = ''`);
        return true;
      } catch {
        return false; // the engine's own types have refused it
      }
    },
    async empty() {
      await run(`DELETE FROM ${table}`);
    },
    async close() {
      await close();
    },
  };
}

async function connected(name: string): Promise<Connected> {
  const backend = backends.find((one) => one.name === name);
  if (backend === undefined) throw new Error(`no backend ${name}`);
  return backend.connect(inject(backend.engine).url);
}

const opener = (client: Connected) => (): Parts => client.open(SPACE);

const engines: Readonly<Record<string, () => Promise<Engine>>> = {
  async Redis() {
    const client = await connected('Redis with ioredis');
    const admin = new Redis(inject('redis').url);
    const key = lockKey(SPACE, NAME);
    const open = opener(client);
    return {
      ...open(),
      open,
      async edit(what, edits) {
        const inHash = edits.filter(([field]) => HASH.includes(field));
        const inRecord = edits.filter(([field]) => !HASH.includes(field));
        const fields = inRecord.map(([field, value]) => [field, field === 'text' ? value : anyOf(value)]);
        try {
          await editRecord(admin, key, PARTS[what], () => Object.fromEntries(fields));
        } catch {
          return false; // an edit of the other part has replaced both
        }
        for (const [field, value] of inHash) await admin.hset(key, field, value);
        return true;
      },
      async empty() {
        await admin.del(key);
      },
      async close() {
        await client.close();
        admin.disconnect();
      },
    };
  },
  async PostgreSQL() {
    const client = await connected('PostgreSQL with a pool');
    const admin = new pg.Client(inject('postgres').url);
    await admin.connect();
    const run = (sql: string): Promise<unknown> => admin.query(sql);
    const close = (): Promise<unknown> => Promise.all([client.close(), admin.end()]);
    return sqlEngine('postgres', opener(client), lockTable(SPACE), run, close);
  },
  async MariaDB() {
    const client = await connected('MariaDB with a pool of promises');
    const admin = await createConnection(inject('mariadb').url);
    const run = (sql: string): Promise<unknown> => admin.query(sql);
    const close = (): Promise<unknown> => Promise.all([client.close(), admin.end()]);
    return sqlEngine('mysql', opener(client), lockTable(SPACE), run, close);
  },
  async SQLite() {
    const client = new Database(':memory:');
    const run = async (sql: string): Promise<unknown> => client.exec(sql);
    const close = async (): Promise<unknown> => client.close();
    return sqlEngine('sqlite', () => partsOf(sqliteBackend({ client })), 'tickless', run, close);
  },
};

function editsOf(what: 'lock' | 'store', isRedis: boolean): fc.Arbitrary<Edit[]> {
  const pairs = (fields: readonly string[], values: readonly string[]) =>
    fc.tuple(fc.constantFrom(...fields), fc.constantFrom(...values));
  const edit = isRedis
    ? pairs(FIELDS[what], TEXTS)
    : fc.oneof(pairs(COLUMNS, LITERALS), {
        arbitrary: pairs(RECORD_FIELDS, what === 'lock' ? VALUES : [...VALUES, LONG_TEXT]),
        weight: 4,
      });
  return fc.uniqueArray(edit, { minLength: 1, maxLength: 3, selector: ([name]) => name });
}

/** The value that a text is, or the text. */
function anyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The answer, or that the engine could not be asked, in a line that people can read. */
async function answered<R>(step: Promise<R>): Promise<R | undefined> {
  try {
    return await step;
  } catch (error) {
    expect(error).toMatchObject({ code: 'BACKEND_DOWN', cause: expect.any(Error) });
    expect((error as Error).message).toContain('v: the backend is unavailable: ');
    return undefined;
  }
}

describe.each(Object.keys(engines))('%s', (name) => {
  const isRedis = name === 'Redis';
  let engine: Engine;
  beforeAll(async () => {
    engine = await (engines[name] as () => Promise<Engine>)();
  });
  afterAll(() => engine?.close());

  it('a record: no second lease, tokens that grow, and an answer or the reason', async () => {
    await fc.assert(
      fc.asyncProperty(editsOf('lock', isRedis), fc.boolean(), async (edits, isDone) => {
        const { lock } = engine;
        await engine.empty();
        const first = await leaseOf(lock, { name: NAME, leaseFor: 60_000 });
        if (isDone) await lock.release(first, { as: 'done', holdFor: 60_000 });
        const isTaken = await engine.edit('lock', edits);
        await answered(lock.inspect(NAME));
        await lock.list().catch((error: Error) => expect(error).toMatchObject({ code: 'BACKEND_DOWN' }));
        const answer = await answered(lock.acquire({ name: NAME, leaseFor: 60_000 }));
        const harmless: readonly string[] = FOR_PEOPLE[isRedis ? 'redis' : 'sql'];
        const isHarmless = edits.every(([field]) => harmless.includes(field));
        if (!isTaken || isHarmless) expect(answer?.kind).toBe(isDone ? 'done' : 'held');
        if (answer === undefined) return;
        if (answer.kind !== 'acquired') {
          expect(answer.retryAfter).toBeGreaterThan(0);
          expect(Number.isFinite(answer.retryAfter + answer.now)).toBe(true);
          // It is held by what is written there, and not for ever by what can't be read.
          const { leaseLeft = 0, holdLeft = 0 } = (await lock.inspect(NAME)) ?? {};
          expect(leaseLeft + holdLeft).toBeGreaterThan(0);
          return;
        }
        const { lease } = answer;
        expect(Number.isSafeInteger(lease.token)).toBe(true);
        if (!edits.some(([field]) => HAS_TOKEN.includes(field)))
          expect(lease.token).toBeGreaterThan(first.token);
        expect((await lock.acquire({ name: NAME, force: true })).kind).toBe('held');
        expect(await lock.extend(lease, 1000)).toBe(true);
        expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
        const next = await answered(lock.acquire({ name: NAME }));
        if (next?.kind === 'acquired') expect(next.lease.token).toBeGreaterThan(lease.token);
      }),
      { numRuns: 250 },
    );
  });

  it.each<[string, boolean, Edit[]]>([
    ['a done round with an unknown state', true, [['phase', isRedis ? 'abc' : '"abc"']]],
    ['a lease that begins in the far future', false, ['until', 'at'].map((field) => [field, '9e15'])],
  ])('%s does not block the next round', async (_, isDone, edits) => {
    const { lock } = engine;
    await engine.empty();
    const first = await leaseOf(lock, { name: NAME });
    if (isDone) await lock.release(first, { as: 'done', holdFor: 60_000 });
    expect(await engine.edit('lock', edits)).toBe(true);
    expect(await lock.acquire({ name: NAME })).toMatchObject({ kind: 'acquired', tookOver: !isDone });
  });

  if (isRedis) {
    it('a snapshot with an unreadable field is damaged, and the damage names the field', async () => {
      const { store } = engine;
      for (const field of ['token', 'at']) {
        await engine.empty();
        await store.write(NAME, 'payload', 5);
        await engine.edit('store', [[field, 'abc']]);
        const version = field === 'token' ? 0 : 5;
        const damage = `its record is damaged: the field ${field} in it is missing, implausible or of a wrong type`;
        expect(await store.read(NAME)).toEqual({ version, age: 0, payload: '', damage });
      }
    });
  }

  it('a value over both: what was held, or what it loads, and people are told why', async () => {
    const none = fc.constant<Edit[]>([]);
    const locks = fc.oneof(none, editsOf('lock', isRedis));
    const stores = fc.oneof(none, editsOf('store', isRedis));
    await fc.assert(
      fc.asyncProperty(locks, stores, async (ofLock, ofStore) => {
        // An object of its own, for what a damaged record does to the trust in it ends with its run.
        const backend = engine.open();
        const { lock, store } = backend;
        await engine.empty();
        const options = { name: NAME, schedule: 60_000, timeout: 3000, backend } as const;
        const first = new RefreshingValue<unknown>({ ...options, load: async () => HELD });
        await first.get();
        await first.close();
        const isLockEdited = ofLock.length > 0 && (await engine.edit('lock', ofLock));
        const isOfBoth = isLockEdited && ofLock.some(([field]) => OF_BOTH.includes(field));
        const isStoreEdited = (ofStore.length > 0 && (await engine.edit('store', ofStore))) || isOfBoth;
        const logger = recordLines();
        const before = await answered(store.read(NAME));
        const second = new RefreshingValue<unknown>({ ...options, load: async () => LOADED, logger });
        const read = await second.get().catch((error: { code?: string }) => error.code);
        await second.close();
        for (const line of logger.lines) {
          expect(line).toMatch(/^(warn|error) tickless: v: .{10}/);
          expect(line.length).toBeLessThan(6000);
        }
        if (read === 'TIMED_OUT') {
          // By what is written there somebody is loading, or has failed just now: that was waited for.
          const { leaseLeft = 0, holdLeft = 0 } = (await lock.inspect(NAME)) ?? {};
          expect(isLockEdited && leaseLeft + holdLeft > 0).toBe(true);
        } else if (read === LOADED) {
          expect(isStoreEdited).toBe(true);
          const isThere = before !== undefined && before.version > 0;
          const reported =
            /snapshot of version \d+ rejected: |the snapshot can't be read: |store unavailable: /;
          if (isThere) expect(logger.lines.join()).toMatch(reported);
        } else expect(read).toEqual(HELD);
      }),
      { numRuns: 80 },
    );
  });
});
