import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { mysqlLockTable } from '../../../src/lock/mysql.ts';
import { postgresLockTable } from '../../../src/lock/postgres.ts';
import { sqliteLock } from '../../../src/lock/sqlite.ts';
import { mysqlStoreTable } from '../../../src/store/mysql.ts';
import { postgresStoreTable } from '../../../src/store/postgres.ts';
import { sqliteStore } from '../../../src/store/sqlite.ts';
import {
  type Backend,
  backends,
  type Connected,
  lockPrefix,
  lockTable,
  storePrefix,
  storeTable,
} from './support/backends.ts';

// What people do to the engines behind our back, and what they ask for that can't be had.

const PASSWORD = 'secret';

/** Someone who may do anything to a database. */
interface Admin {
  run(sql: string): Promise<unknown>;
  /** Makes a user with rights for all tables that come. */
  create(user: string, rights: string): Promise<unknown>;
  drop(user: string): Promise<unknown>;
  lockTable(space: string): string;
  storeTable(space: string): string;
  end(): Promise<unknown>;
}

async function postgresAdmin(): Promise<Admin> {
  const client = new pg.Client(inject('postgres').url);
  await client.connect();
  return {
    run: (sql) => client.query(sql),
    create: (user, rights) =>
      client.query(
        `CREATE ROLE ${user} LOGIN PASSWORD '${PASSWORD}'; ALTER DEFAULT PRIVILEGES GRANT ${rights} ON TABLES TO ${user}`,
      ),
    drop: (user) => client.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`),
    lockTable: (space) => postgresLockTable(lockTable(space)),
    storeTable: (space) => postgresStoreTable(storeTable(space)),
    end: () => client.end(),
  };
}

async function mariadbAdmin(): Promise<Admin> {
  const client = await createConnection(inject('mariadb').url);
  return {
    run: (sql) => client.query(sql),
    async create(user, rights) {
      await client.query(`CREATE USER ${user} IDENTIFIED BY '${PASSWORD}'`);
      await client.query(`GRANT ${rights} ON tickless.* TO ${user}`);
    },
    drop: (user) => client.query(`DROP USER ${user}`),
    lockTable: (space) => mysqlLockTable(lockTable(space)),
    storeTable: (space) => mysqlStoreTable(storeTable(space)),
    end: () => client.end(),
  };
}

const databases = backends.flatMap((backend) => {
  if (backend.engine === 'postgres') return [{ ...backend, admin: postgresAdmin }];
  return backend.engine === 'mariadb' ? [{ ...backend, admin: mariadbAdmin }] : [];
});

/** The error of a step, and what led to it, down to what the driver said. */
async function reasonsOf(step: () => Promise<unknown>): Promise<{ error: unknown; causes: Error[] }> {
  const error = await step().then(
    (answer) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(answer)}`);
    },
    (reason: unknown) => reason,
  );
  const causes: Error[] = [];
  for (let at = (error as Error).cause; at instanceof Error; at = at.cause) causes.push(at);
  return { error, causes };
}

/** Rejects as unavailable, with what the engine said in the message and at the end of the causes. */
async function expectRefused(
  step: () => Promise<unknown>,
  what: 'LOCK' | 'STORE',
  said: RegExp,
): Promise<void> {
  const { error, causes } = await reasonsOf(step);
  expect(error).toMatchObject({ code: `ERR_TICKLESS_${what}_UNAVAILABLE` });
  expect(String(error)).toMatch(said);
  expect(causes.at(-1)?.message).toMatch(said);
}

describe.each(databases)('$name', ({ name, engine, connect, admin: adminOf }) => {
  const index = databases.findIndex((one) => one.name === name);
  const space = (what: string): string => `bad_${what}_${process.pid}_${index}`;
  const users = {
    writer: `bad_writer_${process.pid}_${index}`,
    reader: `bad_reader_${process.pid}_${index}`,
  };
  let admin: Admin;
  let client: Connected;
  /** May not create tables, but read and write those that there are. */
  let writer: Connected;
  /** May only read. */
  let reader: Connected;

  beforeAll(async () => {
    admin = await adminOf();
    const { url } = inject(engine as Exclude<Backend['engine'], 'redis'>);
    const connectAs = async (user: string, rights: string): Promise<Connected> => {
      await admin.create(user, rights);
      const limited = new URL(url);
      limited.username = user;
      limited.password = PASSWORD;
      return connect(limited.href);
    };
    client = await connect(url);
    writer = await connectAs(users.writer, 'SELECT, INSERT, UPDATE, DELETE');
    reader = await connectAs(users.reader, 'SELECT');
  });
  afterAll(async () => {
    await Promise.all([client?.close(), writer?.close(), reader?.close()]);
    for (const user of Object.values(users)) await admin?.drop(user);
    await admin?.end();
  });

  it('a name that is too long: is told as an option that breaks a rule', async () => {
    for (const adapter of [client.lock(space('long')), client.store(space('long'))]) {
      const longest = adapter.longestName as number;
      expect(longest).toBeGreaterThanOrEqual(500);
      for (const long of ['x'.repeat(longest + 1), '\u00e4'.repeat(longest / 2 + 1)]) {
        const step = 'acquire' in adapter ? adapter.acquire({ name: long }) : adapter.write(long, '');
        await expect(step).rejects.toMatchObject({
          code: 'ERR_TICKLESS_OPTION',
          option: 'name',
          rule: expect.stringContaining(`${longest} bytes`),
        });
      }
    }
  });

  it('a name of a table that is none: is told at once', () => {
    for (const table of ['', 'a b', 'a;b', 'a.b.c', 'a"b', 'a`b']) {
      expect(() => client.lock('x', { table } as object)).toThrow(
        expect.objectContaining({ code: 'ERR_TICKLESS_OPTION', option: 'table', received: table }),
      );
    }
  });

  it('a column that is missing: is named', async () => {
    const own = space('column');
    await admin.run(admin.lockTable(own));
    await admin.run(admin.storeTable(own));
    await admin.run(`ALTER TABLE ${lockTable(own)} DROP COLUMN took_over`);
    await admin.run(`ALTER TABLE ${storeTable(own)} DROP COLUMN payload`);
    const [lock, store] = [client.lock(own), client.store(own)];
    await expectRefused(() => lock.acquire({ name: 'any' }), 'LOCK', /took_over/);
    await expectRefused(() => lock.inspect('any'), 'LOCK', /took_over/);
    await expectRefused(() => store.read('any'), 'STORE', /payload/);
    await expectRefused(() => store.write('any', ''), 'STORE', /payload/);
  });

  it('no right to create the table: says so, and what to do', async () => {
    const [lock, store] = [writer.lock(space('nothing')), writer.store(space('nothing'))];
    const said = /can't be created \((postgres|mysql)(Lock|Store)Table\(\) returns its definition\): .*denied/;
    for (const step of [() => lock.acquire({ name: 'any' }), () => lock.list()]) {
      const { error, causes } = await reasonsOf(step);
      expect(error).toMatchObject({
        code: 'ERR_TICKLESS_LOCK_UNAVAILABLE',
        message: expect.stringMatching(said),
      });
      expect(causes.at(-1)?.message).toMatch(/^(permission|CREATE command) denied/);
    }
    for (const step of [() => store.read('any'), () => store.write('any', '')]) {
      const { error } = await reasonsOf(step);
      expect(error).toMatchObject({
        code: 'ERR_TICKLESS_STORE_UNAVAILABLE',
        message: expect.stringMatching(said),
      });
    }
  });

  it('a right that is missing on the table: says so', async () => {
    const own = space('rights');
    await admin.run(admin.lockTable(own));
    await admin.run(admin.storeTable(own));
    const [lock, store] = [reader.lock(own), reader.store(own)];
    expect(await lock.inspect('any')).toBeUndefined();
    expect(await store.read('any')).toBeUndefined();
    await expectRefused(() => lock.acquire({ name: 'any' }), 'LOCK', /denied/i);
    await expectRefused(() => lock.forceRelease('any', 1), 'LOCK', /denied/i);
    await expectRefused(() => store.write('any', ''), 'STORE', /denied/i);
    await expectRefused(() => store.delete('any'), 'STORE', /denied/i);
  });

  const far = `'2999-01-01 00:00:00'`;
  const past = `'1999-01-01 00:00:00'`;
  it.each([
    ['a state that is none', `state = 'weird'`],
    ['a state and a hold for ever', `state = 'weird', not_before = ${far}`],
    ['a lease for ever, begun in the future', `lease_until = ${far}, acquired_at = ${far}`],
    ['a lease from the past', `lease_until = ${past}`],
    ['no token', `token = 0, lease_until = ${past}`],
    ['a token below 0', `token = -5, lease_until = ${past}`],
    ['instants from the past', `lease_until = ${past}, not_before = ${past}, acquired_at = ${past}`],
    ['nobody', `owner = '', request_id = '', host = ''`],
    [
      'the greatest token that is a whole number',
      `token = ${Number.MAX_SAFE_INTEGER}, lease_until = ${past}`,
    ],
    ['a token beyond the whole numbers', `token = 9223372036854775800, lease_until = ${past}`],
    ['a token that can have no successor', `token = 9223372036854775807, lease_until = ${past}`],
  ])('a record that was edited by hand: %s', async (_, change) => {
    const own = space('edited');
    const lock = client.lock(own);
    await lock.acquire({ name: 'edited', leaseFor: 60_000 });
    await admin.run(`UPDATE ${lockTable(own)} SET ${change} WHERE name = 'edited'`);
    await expectSane(lock, 'edited');
    await admin.run(`DELETE FROM ${lockTable(own)}`);
  });

  it('a snapshot that was edited by hand: the store works on', async () => {
    const own = space('snapshot');
    const store = client.store(own);
    await store.write('edited', 'payload');
    await admin.run(`UPDATE ${storeTable(own)} SET version = -1, payload = '', written_at = ${far}`);
    await store.read('edited');
    expect(await store.write('edited', 'mended')).toMatchObject({ kind: 'written' });
    expect(await store.read('edited')).toMatchObject({ payload: 'mended' });
    await admin.run(`UPDATE ${storeTable(own)} SET version = 9223372036854775807`);
    await expectAnswerOrUnavailable(store.write('edited', 'again'), 'STORE');
  });
});

describe.each(backends.filter(({ engine }) => engine === 'redis'))('$name', ({ name, connect }) => {
  const index = backends.findIndex((backend) => backend.name === name);
  const space = (what: string): string => `bad_${what}_${process.pid}_${index}`;
  const user = `bad_${process.pid}_${index}`;
  const { url } = inject('redis');
  let admin: Redis;
  let client: Connected;

  beforeAll(async () => {
    admin = new Redis(url);
    client = await connect(url);
  });
  afterAll(async () => {
    await client?.close();
    await admin?.acl('DELUSER', user);
    admin?.disconnect();
  });

  it('a key of another type: is told', async () => {
    const own = space('type');
    await admin.set(`${lockPrefix(own)}taken`, 'text');
    await admin.rpush(`${storePrefix(own)}taken`, 'list');
    const [lock, store] = [client.lock(own), client.store(own)];
    const lease = { name: 'taken', requestId: 'any', token: 1 };
    for (const step of [
      () => lock.acquire({ name: 'taken' }),
      () => lock.extend(lease),
      () => lock.release(lease, { as: 'abandoned' }),
      () => lock.inspect('taken'),
      () => lock.forceRelease('taken', 1),
    ]) {
      await expectRefused(step, 'LOCK', /WRONGTYPE/);
    }
    await expectRefused(() => store.read('taken'), 'STORE', /WRONGTYPE/);
    await expectRefused(() => store.write('taken', ''), 'STORE', /WRONGTYPE/);
    expect(await lock.list()).toEqual([]);
    expect(await admin.get(`${lockPrefix(own)}taken`)).toBe('text');
  });

  it('a right that is missing: says so', async () => {
    const own = space('rights');
    await admin.acl('SETUSER', user, 'on', `>${PASSWORD}`, '~*', '+@all', '-eval', '-evalsha', '-hset');
    const limited = await connect(url.replace('redis://', `redis://${user}:${PASSWORD}@`));
    try {
      await expectRefused(() => limited.lock(own).acquire({ name: 'any' }), 'LOCK', /NOPERM|no permissions/);
      await expectRefused(() => limited.store(own).write('any', ''), 'STORE', /NOPERM|no permissions/);
      // The scripts may run, but not write.
      await admin.acl('SETUSER', user, '+eval', '+evalsha');
      await expectRefused(
        () => limited.lock(own).acquire({ name: 'any' }),
        'LOCK',
        /can't run this command|NOPERM/,
      );
    } finally {
      limited.destroy();
    }
  });

  it('a server that takes no writes, as a replica does: says so', async () => {
    const own = space('full');
    const [lock, store] = [client.lock(own), client.store(own)];
    await lock.acquire({ name: 'before' });
    await admin.config('SET', 'min-replicas-to-write', '3');
    try {
      await expectRefused(() => lock.acquire({ name: 'any' }), 'LOCK', /NOREPLICAS/);
      await expectRefused(() => store.write('any', ''), 'STORE', /NOREPLICAS/);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
    }
  });

  it.each<[string, Readonly<Record<string, string>> | 'nothing']>([
    ['a state that is none', { state: 'weird' }],
    ['a lease that is no number', { leaseUntil: 'soon' }],
    ['a lease for ever, begun in the future', { leaseUntil: '9e15', acquiredAt: '9e15' }],
    ['a lease beyond all numbers', { leaseUntil: '1e400' }],
    ['an instant below 0', { leaseUntil: '-5', acquiredAt: '-5' }],
    ['a hold that is no number', { state: 'done', finishedAt: 'yesterday', notBefore: 'later' }],
    ['a token that is none', { token: 'abc', leaseUntil: '1' }],
    ['a token beyond the whole numbers', { token: '9223372036854775807', leaseUntil: '1' }],
    ['a token below 0', { token: '-1', leaseUntil: '1' }],
    ['the greatest token that is a whole number', { token: `${Number.MAX_SAFE_INTEGER}`, leaseUntil: '1' }],
    ['bytes that are no text', { owner: '\xff\xfe', host: '\0' }],
    ['nothing but a field of somebody else', 'nothing'],
  ])('a record that was edited by hand: %s', async (_, change) => {
    const own = space('edited');
    const lock = client.lock(own);
    const key = `${lockPrefix(own)}edited`;
    await lock.acquire({ name: 'edited', leaseFor: 60_000 });
    if (change === 'nothing') await admin.del(key);
    await admin.hset(key, change === 'nothing' ? { other: 'x' } : change);
    await expectSane(lock, 'edited');
    await admin.del(key);
  });

  it('a snapshot that was edited by hand: the store works on', async () => {
    const own = space('snapshot');
    const store = client.store(own);
    const key = `${storePrefix(own)}edited`;
    for (const field of ['version', 'writtenAt', 'payload']) {
      for (const value of ['', 'abc', '-1', '1e400', '9223372036854775807']) {
        await store.write('edited', 'payload');
        await admin.hset(key, field, value);
        await expectAnswerOrUnavailable(store.read('edited'), 'STORE');
        expect(await store.write('edited', 'mended')).toMatchObject({ kind: 'written' });
        expect(await store.read('edited')).toMatchObject({ payload: 'mended' });
        await admin.del(key);
      }
    }
  });
});

describe('SQLite with better-sqlite3', () => {
  it('a column that is missing: is named', async () => {
    const client = new Database(':memory:');
    client.exec(
      'CREATE TABLE tickless_lock (name TEXT PRIMARY KEY); CREATE TABLE tickless_snapshot (name TEXT)',
    );
    await expectRefused(
      () => sqliteLock({ client }).acquire({ name: 'any' }),
      'LOCK',
      /no column named token/,
    );
    await expectRefused(() => sqliteStore({ client }).read('any'), 'STORE', /no such column: \w+/);
  });

  it('a file that may not be written: says so', async () => {
    const client = new Database(Buffer.alloc(0), { readonly: true });
    await expectRefused(() => sqliteLock({ client }).acquire({ name: 'any' }), 'LOCK', /readonly/);
    await expectRefused(() => sqliteStore({ client }).write('any', ''), 'STORE', /readonly/);
  });
});

/** Whatever its record holds: each step ends, with a sound answer or as unavailable, and none does harm. */
async function expectSane(lock: Lock, name: string): Promise<void> {
  const lease = { name, requestId: 'nobody', token: 1 };
  await expectAnswerOrUnavailable(lock.inspect(name), 'LOCK');
  await expectAnswerOrUnavailable(lock.list(), 'LOCK');
  expect(await lock.extend(lease)).toBe(false);
  expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(false);
  const answer = await expectAnswerOrUnavailable(lock.acquire({ name }), 'LOCK');
  if (answer?.kind !== 'acquired') {
    // Held, or held back, but not for ever.
    if (answer !== undefined) expect(answer.retryAfter).toBeLessThan(3_600_000);
    return;
  }
  const { lease: got } = answer;
  expect(Number.isSafeInteger(got.token)).toBe(true);
  expect(await lock.extend(got)).toBe(true);
  expect(await lock.release(got, { as: 'done', holdFor: 0 })).toBe(true);
  const next = await lock.acquire({ name });
  expect(next).toMatchObject({ kind: 'acquired' });
  if (next.kind === 'acquired') expect(next.lease.token).toBeGreaterThan(got.token);
}

async function expectAnswerOrUnavailable<R>(
  step: Promise<R>,
  what: 'LOCK' | 'STORE',
): Promise<R | undefined> {
  try {
    return await step;
  } catch (error) {
    expect(error).toMatchObject({ code: `ERR_TICKLESS_${what}_UNAVAILABLE`, cause: expect.any(Error) });
    return undefined;
  }
}
