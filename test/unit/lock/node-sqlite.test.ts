import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { type SqliteClient, sqliteLock } from '../../../src/lock/sqlite.ts';
import { sqliteStore } from '../../../src/store/sqlite.ts';
import { type DamagedField, lockConformance, storeConformance } from '../../../src/testing/index.ts';
import { FAR, POSTDATED, sqlDamage } from '../../system/integration/support/edits.ts';

type Database = SqliteClient & { close(): void };

/** The types of Node 20 do not know the module. */
function openDatabase(file: string): Database | undefined {
  if (!isBuiltin('node:sqlite')) return undefined;
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
    DatabaseSync: new (file: string, options: { timeout: number }) => Database;
  };
  return new DatabaseSync(file, { timeout: 50 });
}

const directory = mkdtempSync(join(tmpdir(), 'tickless-node-sqlite-'));
const client = openDatabase(join(directory, 'test.db'));
afterAll(() => {
  client?.close();
  rmSync(directory, { recursive: true });
});

// Against its lock and store on other Nodes, better-sqlite3 and two connections: test/system/integration.
describe.concurrent('node:sqlite', () => {
  if (client === undefined) {
    it('holds to both contracts', ({ skip }) => skip(`Node ${process.versions.node} has no node:sqlite`));
    return;
  }
  const lockSubject = {
    lock: () => sqliteLock({ client }),
    damage: (name: string, field: DamagedField) => {
      client
        .prepare(`UPDATE tickless_lock SET ${sqlDamage(field, FAR.sqlite)} WHERE name = ?`)
        .run(name as never);
    },
  };
  const storeSubject = {
    store: () => sqliteStore({ client }),
    postdate: (name: string, ms: number) => {
      client
        .prepare(`UPDATE tickless_snapshot SET ${POSTDATED.sqlite(ms)} WHERE name = ?`)
        .run(name as never);
    },
  };
  for (const { name, run } of lockConformance(lockSubject)) it(`lock: ${name}`, run);
  for (const { name, run } of storeConformance(storeSubject)) it(`store: ${name}`, run);
});
