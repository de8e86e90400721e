import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openSqlite } from '../../../src/backends/sql/open-sqlite.ts';
import { type SqliteClient, sqliteBackend } from '../../../src/backends/sqlite.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { conformance } from '../../system/integration/support/conformance.ts';
import { sqliteEdits, sqlPostdated } from '../../system/integration/support/edits.ts';

type Database = SqliteClient & { close(): void };

/** The types of Node 20 do not know the module. */
function openDatabase(file: string): Database | undefined {
  if (!isBuiltin('node:sqlite')) return undefined;
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
    DatabaseSync: new (file: string, options: { timeout: number }) => Database;
  };
  return new DatabaseSync(file, { timeout: 50 });
}

const DONE = { as: 'done', holdFor: 0 } as const;

async function leaseOf(lock: Lock, name: string): Promise<Lease> {
  const answer = await lock.acquire({ name });
  if (answer.kind !== 'acquired') throw new Error(answer.kind);
  return answer.lease;
}

const directory = mkdtempSync(join(tmpdir(), 'tickless-node-sqlite-'));
const open = (): Database | undefined => openDatabase(join(directory, 'test.db'));
const client = open();
afterAll(() => {
  client?.close();
  rmSync(directory, { recursive: true });
});

// On other Nodes, and with better-sqlite3: test/system/integration.
describe.concurrent('node:sqlite', () => {
  if (client === undefined) {
    it('holds to both contracts', ({ skip }) => skip(`Node ${process.versions.node} has no node:sqlite`));
    return;
  }
  const [another, closed] = [open(), open()] as [Database, Database];
  closed.close();
  conformance({
    one: (options) => sqliteBackend({ client, ...options }),
    another: (options) => sqliteBackend({ client: another, ...options }),
    none: (options) => sqliteBackend({ client: closed, ...options }),
    edits: sqliteEdits(client),
  });
  const { cells } = openSqlite({ client });
  for (const { name, run } of recordsConformance({ cells: () => cells })) it(`records: ${name}`, run);

  it('lock: a clock that was set back during a lease does not shorten how long its record is kept', async () => {
    const table = 'clock_set_back';
    const lock = lockOf(sqliteBackend({ client, table }));
    const [present, absent] = [await leaseOf(lock, 'present'), await leaseOf(lock, 'absent')];
    client.prepare(`UPDATE ${table} SET ${sqlPostdated('sqlite', 'lock', 500)}`).run();
    await lock.release(present, DONE);
    await lock.release(absent, { ...DONE, keepFor: 500 });
    await vi.waitFor(
      async () => {
        const another = lockOf(sqliteBackend({ client, table })); // it purges after its first release
        await another.release(await leaseOf(another, 'another'), DONE);
        expect(await lock.inspect('absent')).toBeUndefined();
      },
      { timeout: 20_000 },
    );
    expect((await lock.inspect('present'))?.state).toBe('done');
  });

  it('store: a snapshot that is written again with its token but without a keepFor is kept as any', async () => {
    const table = 'written_again';
    const store = storeOf(sqliteBackend({ client, table }));
    for (const name of ['one', 'many', 'refused', 'absent'])
      await store.write(name, 'absent', 5, undefined, 1000);
    await store.write('one', 'present', 5);
    await Promise.all([store.write('many', 'present', 5), store.write('refused', 'present', 4)]);
    await vi.waitFor(
      async () => {
        await storeOf(sqliteBackend({ client, table })).write('another', ''); // a new object purges after its first write
        expect(await store.read('absent')).toBeUndefined();
      },
      { timeout: 20_000 },
    );
    const left = await Promise.all(['one', 'many', 'refused', 'absent'].map((name) => store.read(name)));
    expect(left.map((snapshot) => snapshot?.payload)).toEqual(['present', 'present', undefined, undefined]);
  });

  const HUGE = 2n ** 62n; // node:sqlite refuses to read integers over 2^53
  const names = ['a', 'damaged', 'c'];
  const damage = (table: string, path: string, value: bigint): void => {
    const sql = `UPDATE ${table} SET body = json_set(body, '$.${path}', ?) WHERE name LIKE '%/damaged'`;
    client.prepare(sql).run(value as never);
  };

  it.each([
    ['token', HUGE],
    ['at', -HUGE],
  ])('store: a huge number in the field %s is damage of that name alone', async (field, value) => {
    const table = `huge_${field}`;
    const store = storeOf(sqliteBackend({ client, table }));
    await Promise.all(names.map((name) => store.write(name, name, 5)));
    damage(table, `snapshot.${field}`, value);
    const [a, damaged, c] = await Promise.all(names.map((name) => store.read(name)));
    expect([a, c]).toMatchObject([{ version: 5 }, { version: 5 }]);
    expect(damaged).toMatchObject(
      field === 'token'
        ? { damage: expect.stringContaining('the field token in it') }
        : { version: 5, age: expect.closeTo(2 ** 62, -14) },
    );
    expect(await store.read('damaged')).toMatchObject({ payload: field === 'token' ? '' : 'damaged' });
  });

  it.each([
    ['token', HUGE],
    ['at', -HUGE],
    ['changedAt', -HUGE],
  ])('lock: a huge number in the field %s is damage of that name alone', async (field, value) => {
    const table = `huge_lock_${field}`;
    const lock = lockOf(sqliteBackend({ client, table }));
    for (const name of names) await lock.release(await leaseOf(lock, name), { ...DONE, holdFor: 60_000 });
    damage(table, `lock.${field}`, value);
    expect((await lock.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(['a', 'c']));
    await lock.inspect('damaged');
    const kinds = (await Promise.all(names.map((name) => lock.acquire({ name })))).map(({ kind }) => kind);
    expect(kinds).toEqual(['done', field === 'token' ? 'acquired' : 'done', 'done']);
  });
});
