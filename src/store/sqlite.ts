import type { SnapshotStore } from '../cluster/store-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import { SQLITE, type SqliteClient, SqliteSql } from '../sql/sqlite.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore } from './sql.ts';

export type { SqliteClient, SqliteStatement, SqliteValue } from '../sql/sqlite.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends SqlStoreOptions {
  /** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. It stays yours: close it yourself. */
  readonly client: SqliteClient;
}

/**
 * A store in a table of SQLite, version 3.35 or later: for several processes of one machine, and over restarts. Each step
 * is one statement; the clock is the machine's. Instances share what shares the file.
 *
 * ```ts no-run
 * import Database from 'better-sqlite3';
 * import { sqliteStore } from 'tickless/store/sqlite';
 *
 * const database = new Database('snapshots.db', { timeout: 50 });
 * database.pragma('journal_mode = WAL');
 * const store = sqliteStore({ client: database });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * database.close();
 * ```
 *
 * While another process writes to the file, the statement is tried again, after pauses of up to 50 ms, until `timeout`
 * is over. Before SQLite says so it waits for its own `busy_timeout`, and the whole process with it: 5 seconds in
 * `better-sqlite3`, none in `node:sqlite`. Set it to some 50 ms, as above (`new DatabaseSync(file, { timeout: 50 })`), and give the
 * store a connection that holds no transaction open. Nothing is set on the connection. In the mode WAL readers and the
 * writer don't wait for each other.
 *
 * Names are at most 1024 bytes of UTF-8 long, and compared byte by byte. Instants in the table are milliseconds since
 * 1970. The table is created at first use, if it is missing; {@link sqliteStoreTable} is for migrations.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteStore(options: SqliteStoreOptions): SnapshotStore {
  const checks = new OptionChecks('store');
  checks.methods('client', options?.client, ['prepare']);
  checks.done();
  return sqlStore(options, {
    client: new SqliteSql(options.client),
    dialect: SQLITE,
    definition: sqliteStoreTable,
    definedBy: 'sqliteStoreTable()',
    longestName: 1024,
  });
}

/**
 * The statement that creates the table of {@link sqliteStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when it is no name of a table.
 */
export function sqliteStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, SQLITE.quoted)} (
  name TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL CHECK (typeof(version) IN ('integer', 'real')),
  written_at INTEGER NOT NULL CHECK (typeof(written_at) IN ('integer', 'real')),
  payload TEXT NOT NULL
)`;
}
