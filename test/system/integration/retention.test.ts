import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type SqliteClient, sqliteBackend } from '../../../src/backends/sqlite.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { BackendOptions } from '../../../src/records/backend-options.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { backends } from './support/backends.ts';

const HOUR = 3_600_000;
const RETENTION_MS = 1000;

/** Ends a round of it. The first one of a lock looks for old records, where the engine does not delete them itself. */
async function round(lock: Lock, name: string, holdFor = 0, keepFor?: number): Promise<void> {
  const answer = await lock.acquire({ name });
  if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor, keepFor });
}

/** @param open gives a new lock each time. */
async function expectRetention(open: (retention: number) => Lock): Promise<void> {
  const lock = open(RETENTION_MS);
  await lock.acquire({ name: 'expired', leaseFor: 10 });
  await round(lock, 'done');
  await round(lock, 'held', HOUR);
  await lock.acquire({ name: 'running', leaseFor: HOUR });
  await vi.waitFor(
    async () => {
      await round(open(RETENTION_MS), 'another');
      const names = (await lock.list()).map(({ name }) => name);
      expect(names).toEqual(['another', 'held', 'running']);
      expect(await lock.inspect('done')).toBeUndefined();
    },
    { timeout: 20_000, interval: 200 },
  );
}

async function expectNone(open: (retention: number) => Lock): Promise<void> {
  const lock = open(Infinity);
  await round(lock, 'done');
  await round(lock, 'another');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await lock.list()).map(({ name }) => name)).toEqual(['another', 'done']);
}

/** Of a record with a `keepFor` that is over: it is gone; of one that was written again without one: it is there. */
async function expectBrief(openLock: () => Lock, openStore: () => Store): Promise<void> {
  const lock = openLock();
  await round(lock, 'absent', 0, RETENTION_MS);
  await round(lock, 'held', HOUR, RETENTION_MS);
  await round(lock, 'present', 0, RETENTION_MS);
  await round(lock, 'present');
  await round(lock, 'running', 0, RETENTION_MS);
  await lock.acquire({ name: 'running', leaseFor: HOUR });
  const leases = await Promise.all(['absent too', 'present too'].map((name) => leaseOf(lock, { name })));
  const ends = leases.map((lease, i) =>
    lock.release(lease, { as: 'done', holdFor: 0, keepFor: i === 0 ? RETENTION_MS : undefined }),
  );
  await Promise.all(ends);
  const store = openStore();
  await Promise.all(
    ['absent too', 'present too'].map((name) => store.write(name, '', 1, undefined, RETENTION_MS)),
  );
  await store.write('present too', '', 1);
  await store.write('absent', '', 1, undefined, RETENTION_MS);
  await store.write('present', '', 1, undefined, RETENTION_MS);
  await store.write('present', '', 2);
  await store.write('with its token', '', 1, undefined, RETENTION_MS);
  await store.write('with its token', '', 1);
  await vi.waitFor(
    async () => {
      // Without a retention, only a process with such records looks for them.
      await round(openLock(), 'another', 0, HOUR);
      await openStore().write('another', '', undefined, undefined, HOUR);
      const names = (await lock.list()).map(({ name }) => name);
      expect(names).toEqual(['another', 'held', 'present', 'present too', 'running']);
      for (const name of ['absent', 'absent too']) expect(await store.read(name)).toBeUndefined();
    },
    { timeout: 20_000, interval: 200 },
  );
  expect((await store.read('present'))?.version).toBe(2);
  expect((await store.read('with its token'))?.version).toBe(1);
  expect((await store.read('present too'))?.version).toBe(1);
}

type Retained = BackendOptions & { readonly retention: number };

/** Makes the lock and the store of a space, with their table or prefix named after it. */
interface Spaces {
  lock(space: string, options: Retained): Lock;
  store(space: string, options: Retained): Store;
  destroy(): void;
}

const SQLITE = {
  name: 'SQLite with better-sqlite3',
  async open(): Promise<Spaces> {
    const client = new Database(':memory:');
    return {
      lock: (table, options) => lockOf(sqliteBackend({ client, table, ...options })),
      store: (table, options) => storeOf(sqliteBackend({ client, table, ...options })),
      destroy: () => void client.close(),
    };
  },
};
const SERVED = backends.map(({ name, engine, connect }) => ({
  name,
  open: (): Promise<Spaces> => connect(inject(engine).url),
}));
const OPENED = [...SERVED, SQLITE];

describe('records that nobody has used for the retention are deleted, and no others', () => {
  describe.each(OPENED)('$name', ({ name, open }) => {
    const space = `retention_${process.pid}_${OPENED.findIndex((one) => one.name === name)}`;
    let client: Spaces;
    beforeAll(async () => {
      client = await open();
    });
    afterAll(() => client?.destroy());

    it('as soon as it is over', () => expectRetention((retention) => client.lock(space, { retention })));

    it.each([HOUR, Infinity])('sooner where they are of no use for as long: retention %d', (retention) => {
      const own = `${space}_brief_${Number.isFinite(retention)}`;
      return expectBrief(
        () => client.lock(own, { retention }),
        () => client.store(own, { retention }),
      );
    });

    it('without end, none is', () => expectNone((retention) => client.lock(`${space}_kept`, { retention })));
  });

  it('SQLite with better-sqlite3: older versions and long texts go with the snapshot of their name', async () => {
    const client = new Database(':memory:');
    const open = () => storeOf(sqliteBackend({ client, retention: 300, keepVersions: 3 }));
    for (const token of [1, 2, 3]) await open().write('unused', 'x'.repeat(5000), token);
    expect(client.prepare(`SELECT * FROM tickless WHERE name = 'name/unused'`).all()).toHaveLength(4);
    await vi.waitFor(async () => {
      await open().write('used', ''); // a new object purges after its first write
      expect(client.prepare(`SELECT * FROM tickless WHERE name = 'name/unused'`).all()).toEqual([]);
    }, 20_000);
    expect(await open().history('used')).toHaveLength(3);
    client.close();
  });

  it('SQLite with better-sqlite3: long texts go also where their name is written again between the two deletions', async () => {
    const client = new Database(':memory:');
    const open = (given: SqliteClient) => storeOf(sqliteBackend({ client: given, retention: HOUR }));
    await open(client).write('again', 'x'.repeat(5000), 1, undefined, 30);
    await new Promise((resolve) => setTimeout(resolve, 100));
    let deletions = 0;
    const interrupted: SqliteClient = {
      prepare(sql) {
        if (sql.startsWith('DELETE')) deletions += 1;
        if (sql.startsWith('DELETE') && deletions === 2) {
          const other = `INSERT INTO tickless (name, part, body) VALUES ('name/again', '', 'of another process')`;
          client.prepare(other).run();
        }
        return client.prepare(sql);
      },
    };
    await open(interrupted).write('another', '');
    await vi.waitFor(() => expect(deletions).toBe(2));
    await vi.waitFor(() => {
      const rows = client.prepare(`SELECT name, part FROM tickless WHERE name = 'name/again'`).all();
      expect(rows).toEqual([{ name: 'name/again', part: '' }]);
    });
    client.close();
  });
});
