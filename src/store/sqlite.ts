import type { Store } from '../cluster/store-contract.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { SQLITE, type SqliteClient, SqliteSql } from '../sql/sqlite.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore, versionsTable } from './sql.ts';
import { fleetTable } from './sql-reports.ts';

export type { SqliteClient, SqliteStatement, SqliteValue } from '../sql/sqlite.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends SqlStoreOptions {
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
 * 1970. The table is created on first use if it is missing; {@link sqliteStoreTable} is for migrations.
 * So is that of the reports of instances, on first use of a report: {@link sqliteFleetTable}.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteStore(given: SqliteStoreOptions): Store {
  const options = ownOptions(given);
  const checks = new OptionChecks('store');
  checks.methods('client', options?.client, ['prepare']);
  checks.done();
  return sqlStore(options, {
    client: new SqliteSql(options.client),
    dialect: SQLITE,
    definition: sqliteStoreTable,
    versionsDefinition: sqliteVersionsTable,
    definedBy: 'sqliteStoreTable()',
    fleet: { definition: sqliteFleetTable, definedBy: 'sqliteFleetTable()', isEmbedded: true },
    longestName: 1024,
  });
}

/**
 * The statement that creates the table of {@link sqliteStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid.
 */
export function sqliteStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, SQLITE.quoted)} (
  name TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL CHECK (typeof(version) IN ('integer', 'real')),
  written_at INTEGER NOT NULL CHECK (typeof(written_at) IN ('integer', 'real')),
  payload TEXT NOT NULL,
  brief_version INTEGER,
  brief_until INTEGER
)`;
}

/**
 * The statement that creates the table of the versions that {@link sqliteStore} keeps with `keepVersions`: for migrations.
 * Its name is that of the table of the store with `_versions` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function sqliteVersionsTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${versionsTable(table, SQLITE.quoted)} (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (name, version)
)`;
}

/**
 * The statement that creates the table of the reports that instances leave in {@link sqliteStore} with their checks: for
 * migrations. Its name is that of the table of the store with `_fleet` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function sqliteFleetTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${fleetTable(table, SQLITE.quoted)} (
  name TEXT NOT NULL PRIMARY KEY,
  written_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  report TEXT NOT NULL
)`;
}
