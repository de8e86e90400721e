import { OptionChecks, ownOptions } from '../option-checks.ts';
import { SQLITE, type SqliteClient, SqliteSql } from '../sql/sqlite.ts';
import { tableName } from '../sql/table-name.ts';
import type { Lock } from './create-lock.ts';
import { LOCK_TABLE, type SqlLockOptions, sqlLock } from './sql.ts';

export type { SqliteClient, SqliteStatement, SqliteValue } from '../sql/sqlite.ts';
export type { SqlLockOptions } from './sql.ts';

/** The options of {@link sqliteLock}. */
export interface SqliteLockOptions extends SqlLockOptions {
  /** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. You keep ownership: close it yourself. */
  readonly client: SqliteClient;
}

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
 * 1970: `datetime(lease_until / 1000, 'unixepoch')`. The table is created on first use if it is missing;
 * {@link sqliteLockTable} is for migrations.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteLock(given: SqliteLockOptions): Lock {
  const options = ownOptions(given);
  const checks = new OptionChecks('lock');
  checks.methods('client', options?.client, ['prepare']);
  checks.done();
  return sqlLock(options, {
    client: new SqliteSql(options.client),
    dialect: SQLITE,
    definition: sqliteLockTable,
    definedBy: 'sqliteLockTable()',
    longestName: 1024,
  });
}

/**
 * The statement that creates the table of {@link sqliteLock}: for migrations.
 *
 * @param table @default 'tickless_lock'
 * @throws {OptionError} when the name of the table is invalid.
 */
export function sqliteLockTable(table: string = LOCK_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('lock', table, SQLITE.quoted)} (
  name TEXT NOT NULL PRIMARY KEY,
  token INTEGER NOT NULL CHECK (typeof(token) IN ('integer', 'real')),
  owner TEXT NOT NULL,
  request_id TEXT NOT NULL,
  lease_until INTEGER NOT NULL CHECK (typeof(lease_until) IN ('integer', 'real')),
  not_before INTEGER NOT NULL CHECK (typeof(not_before) IN ('integer', 'real')),
  state TEXT NOT NULL,
  took_over INTEGER NOT NULL CHECK (typeof(took_over) IN ('integer', 'real')),
  acquired_at INTEGER NOT NULL CHECK (typeof(acquired_at) IN ('integer', 'real')),
  finished_at INTEGER CHECK (typeof(finished_at) IN ('integer', 'real', 'null')),
  host TEXT NOT NULL,
  last_error TEXT
)`;
}
