import type { Store } from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { SqlOptions } from '../sql/open-records.ts';
import { openSqlite } from '../sql/open-sqlite.ts';
import type { SqliteClient } from '../sql/sqlite.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type { SqlOptions } from '../sql/open-records.ts';
export { sqliteTable } from '../sql/open-sqlite.ts';
export type { SqliteClient, SqliteStatement, SqliteValue } from '../sql/sqlite.ts';

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends StoreOptions, SqlOptions {
  /** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. You keep ownership: close it yourself. */
  readonly client: SqliteClient;
}

/**
 * A store in a table of SQLite, version 3.35 or later, for several processes of one machine and over their restarts. Each
 * step is one statement; the clock is the machine's. Instances that share the file share the store.
 *
 * ```ts no-run
 * import Database from 'better-sqlite3';
 * import { sqliteStore } from 'tickless/sqlite';
 *
 * const database = new Database('snapshots.db', { timeout: 50 });
 * database.pragma('journal_mode = WAL');
 * const store = sqliteStore({ client: database });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * database.close();
 * ```
 *
 * While another process writes to the file, the statement is retried after pauses of up to 50 ms, until `timeout`.
 * Before SQLite reports the conflict it blocks the whole process for its own `busy_timeout`: 5 seconds in
 * `better-sqlite3`, 0 in `node:sqlite`. Set it to about 50 ms, as above (`new DatabaseSync(file, { timeout: 50 })`), and
 * give the store a connection without open transactions. The store sets nothing on the connection. In WAL mode readers
 * and the writer don't block each other.
 *
 * Names are at most 1024 bytes of UTF-8 long, and compared byte by byte. Instants in the table are milliseconds since
 * 1970. The table is created on first use if it is missing; {@link sqliteTable} is for migrations.
 * Earlier versions (`keepVersions`) and the reports of instances are rows of the same table.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteStore(given: SqliteStoreOptions): Store {
  const options = ownOptions(given);
  const { records, backend } = openSqlite('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, backend);
}
