import type { Store } from '../cluster/store-contract.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';
import type { SqlOptions } from './sql/open-records.ts';
import { openSqlite } from './sql/open-sqlite.ts';
import type { SqliteClient } from './sql/sqlite.ts';

export type { Backend } from './backend.ts';
export type { SqlOptions } from './sql/open-records.ts';
export { sqliteTable } from './sql/open-sqlite.ts';
export type { SqliteClient, SqliteStatement, SqliteValue } from './sql/sqlite.ts';

/** The options of all that is in SQLite. */
export interface SqliteOptions extends SqlOptions {
  /** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. You keep ownership: close it yourself. */
  readonly client: SqliteClient;
}

/** The options of {@link sqliteLock}. */
export interface SqliteLockOptions extends LockOptions, SqliteOptions {}

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends StoreOptions, SqliteOptions {}

/** The options of {@link sqliteBackend}: those of the lock and of the store. */
export interface SqliteBackendOptions extends SqliteLockOptions, SqliteStoreOptions {}

/**
 * A lock in a table of SQLite, version 3.35 or later, for several processes of one machine. Each step is one statement;
 * the clock is the machine's. Instances that share the file share the lock.
 *
 * ```ts no-run
 * import Database from 'better-sqlite3';
 * import { sqliteLock } from 'tickless/sqlite';
 *
 * const database = new Database('locks.db', { timeout: 50 });
 * database.pragma('journal_mode = WAL');
 * const lock = sqliteLock({ client: database });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind);
 * database.close();
 * ```
 *
 * While another process writes to the file, the statement is retried after pauses of up to 50 ms, until `timeout`.
 * Before SQLite reports the conflict it blocks the whole process for its own `busy_timeout`: 5 seconds in
 * `better-sqlite3`, 0 in `node:sqlite`. Set it to about 50 ms, as above (`new DatabaseSync(file, { timeout: 50 })`), and
 * give the lock a connection without open transactions. The lock sets nothing on the connection. In WAL mode readers
 * and the writer don't block each other.
 *
 * Names are at most 1024 bytes of UTF-8 long, and compared byte by byte. Instants in the table are milliseconds since
 * 1970: `datetime(ends_at / 1000, 'unixepoch')`. The table is created on first use if it is missing;
 * {@link sqliteTable} is for migrations.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteLock(given: SqliteLockOptions): Lock {
  return lockOn(openSqlite, given);
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
  return storeOn(openSqlite, given);
}

/**
 * A lock and a store in SQLite in one table, for the option `backend`: {@link sqliteLock} and {@link sqliteStore} with the same options.
 *
 * ```ts no-run
 * import Database from 'better-sqlite3';
 * import { RefreshingValue } from 'tickless';
 * import { sqliteBackend } from 'tickless/sqlite';
 *
 * const backend = sqliteBackend({ client: new Database('app.db') });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteBackend(given: SqliteBackendOptions): Backend {
  return backendOn(openSqlite, given);
}
