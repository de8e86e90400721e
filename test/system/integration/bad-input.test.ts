import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mysqlTable } from '../../../src/backends/mysql.ts';
import { postgresTable } from '../../../src/backends/postgres.ts';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import { leaseOf } from '../../support/lease.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { expectAnswers } from './support/answers.ts';
import {
  type Backend,
  backends,
  type Connected,
  lockKey,
  lockTable,
  snapshotKey,
  storeTable,
} from './support/backends.ts';

// Invalid names, changed schemas and missing rights. edited-records.test.ts tests edited records.

const PASSWORD = 'secret';

/** A connection with all rights. */
interface Admin {
  run(sql: string): Promise<unknown>;
  /** Creates a user with rights for all future tables. */
  create(user: string, rights: string): Promise<unknown>;
  drop(user: string): Promise<unknown>;
  definition(table: string): string;
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
    definition: postgresTable,
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
    definition: mysqlTable,
    end: () => client.end(),
  };
}

const databases = backends.flatMap((backend) => {
  if (backend.engine === 'postgres') return [{ ...backend, admin: postgresAdmin }];
  return backend.engine === 'mariadb' ? [{ ...backend, admin: mariadbAdmin }] : [];
});

/** The error of a step, and its causes down to the error of the driver. */
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

/** Rejects as unavailable, with the message of the backend in its own and at the end of the causes. */
async function expectRefused(step: () => Promise<unknown>, said: RegExp): Promise<void> {
  const { error, causes } = await reasonsOf(step);
  expect(error).toMatchObject({ code: 'BACKEND_DOWN', message: expect.stringContaining('the backend is') });
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
  /** May read and write tables, not create them. */
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

  it('a name that is too long: an OPTION error', async () => {
    for (const adapter of [client.lock(space('long')), client.store(space('long'))]) {
      const longest = adapter.longestName as number;
      expect(longest).toBeGreaterThanOrEqual(500);
      for (const long of ['x'.repeat(longest + 1), '\u00e4'.repeat(longest / 2 + 1)]) {
        const step = 'acquire' in adapter ? adapter.acquire({ name: long }) : adapter.write(long, '');
        await expect(step).rejects.toMatchObject({
          code: 'OPTION',
          message: expect.stringMatching(`: name .*${longest} bytes`),
        });
      }
    }
  });

  it('an invalid name of a table: an OPTION error at once', () => {
    for (const table of ['', 'a b', 'a;b', 'a.b.c', 'a"b', 'a`b']) {
      expect(() => client.lock('x', { table } as object)).toThrow(expect.objectContaining(ofOption('table')));
    }
  });

  /** By the documented statements. */
  async function tables(own: string): Promise<string> {
    for (const table of [lockTable(own), storeTable(own)]) await admin.run(admin.definition(table));
    return own;
  }

  it('who may not create tables works with those of the documented statements', async () => {
    const own = await tables(space('ddl'));
    await expectAnswers({ lock: writer.lock(own), store: writer.store(own, { keepVersions: 3 }) });
  });

  it('a missing column: the error names it', async () => {
    const own = await tables(space('column'));
    for (const table of [lockTable(own), storeTable(own)])
      await admin.run(`ALTER TABLE ${table} DROP COLUMN body`);
    const [lock, store] = [client.lock(own), client.store(own)];
    await expectRefused(() => lock.acquire({ name: 'any' }), /body/);
    await expectRefused(() => lock.inspect('any'), /body/);
    await expectRefused(() => store.read('any'), /body/);
    await expectRefused(() => store.write('any', ''), /body/);
  });

  it('no right to create the table: the error says so, and what to do', async () => {
    const [lock, store] = [writer.lock(space('nothing')), writer.store(space('nothing'))];
    const said = /can't be created \((postgres|mysql)Table\(\) returns its definition\): .*denied/;
    for (const step of [() => lock.acquire({ name: 'any' }), () => lock.list()]) {
      const { error, causes } = await reasonsOf(step);
      expect(error).toMatchObject({ code: 'BACKEND_DOWN', message: expect.stringMatching(said) });
      expect(causes.at(-1)?.message).toMatch(/^(permission|CREATE command) denied/);
    }
    for (const step of [() => store.read('any'), () => store.write('any', '')]) {
      const { error } = await reasonsOf(step);
      expect(error).toMatchObject({ code: 'BACKEND_DOWN', message: expect.stringMatching(said) });
    }
  });

  it('a missing right on the table: the error says so', async () => {
    const own = await tables(space('rights'));
    const [lock, store] = [reader.lock(own), reader.store(own)];
    expect(await lock.inspect('any')).toBeUndefined();
    expect(await store.read('any')).toBeUndefined();
    const { token } = await leaseOf(client.lock(own), { name: 'present' });
    await client.store(own).write('present', '');
    await expectRefused(() => lock.acquire({ name: 'any' }), /denied/i);
    await expectRefused(() => lock.forceRelease('present', token), /denied/i);
    await expectRefused(() => store.write('any', ''), /denied/i);
    await expectRefused(() => store.delete('present'), /denied/i);
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

  it('a key of another type: the error says so', async () => {
    const own = space('type');
    await admin.set(lockKey(own, 'taken'), 'text');
    await admin.rpush(snapshotKey(own, 'taken'), 'list');
    const [lock, store] = [client.lock(own), client.store(own)];
    const lease = { name: 'taken', requestId: 'any', token: 1 };
    for (const step of [
      () => lock.acquire({ name: 'taken' }),
      () => lock.extend(lease),
      () => lock.release(lease, { as: 'abandoned' }),
      () => lock.inspect('taken'),
      () => lock.forceRelease('taken', 1),
    ]) {
      await expectRefused(step, /WRONGTYPE/);
    }
    await expectRefused(() => store.read('taken'), /WRONGTYPE/);
    await expectRefused(() => store.write('taken', ''), /WRONGTYPE/);
    expect(await lock.list()).toEqual([]);
    expect(await admin.get(lockKey(own, 'taken'))).toBe('text');
  });

  it('a missing right: the error says so', async () => {
    const own = space('rights');
    await admin.acl('SETUSER', user, 'on', `>${PASSWORD}`, '~*', '+@all', '-eval', '-evalsha', '-hset');
    const limited = await connect(url.replace('redis://', `redis://${user}:${PASSWORD}@`));
    try {
      await expectRefused(() => limited.lock(own).acquire({ name: 'any' }), /NOPERM|no permissions/);
      await expectRefused(() => limited.store(own).write('any', ''), /NOPERM|no permissions/);
      // The scripts may run, but not write.
      await admin.acl('SETUSER', user, '+eval', '+evalsha');
      await expectRefused(() => limited.lock(own).acquire({ name: 'any' }), /can't run this command|NOPERM/);
    } finally {
      limited.destroy();
    }
  });

  it('a server without writes, such as a replica: the error says so', async () => {
    const own = space('full');
    const [lock, store] = [client.lock(own), client.store(own)];
    await lock.acquire({ name: 'before' });
    await admin.config('SET', 'min-replicas-to-write', '3');
    try {
      await expectRefused(() => lock.acquire({ name: 'any' }), /NOREPLICAS/);
      await expectRefused(() => store.write('any', ''), /NOREPLICAS/);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
    }
  });
});

describe('SQLite with better-sqlite3', () => {
  it('a missing column: the error names it', async () => {
    const client = new Database(':memory:');
    client.exec('CREATE TABLE tickless (name TEXT PRIMARY KEY)');
    await expectRefused(
      () => lockOf(sqliteBackend({ client })).acquire({ name: 'any' }),
      /no such column: r.body/,
    );
    await expectRefused(() => storeOf(sqliteBackend({ client })).read('any'), /no such column: \w+/);
  });

  it('a read-only file: the error says so', async () => {
    const client = new Database(Buffer.alloc(0), { readonly: true });
    await expectRefused(() => lockOf(sqliteBackend({ client })).acquire({ name: 'any' }), /readonly/);
    await expectRefused(() => storeOf(sqliteBackend({ client })).write('any', ''), /readonly/);
  });
});
