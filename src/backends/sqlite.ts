import type { Backend } from '../engine/backend.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { backendOn } from './backend.ts';
import type { SqlOptions } from './sql/open-records.ts';
import { openSqlite } from './sql/open-sqlite.ts';
import type { SqliteClient } from './sql/sqlite.ts';

export type { Backend } from '../engine/backend.ts';
export type { SqlOptions } from './sql/open-records.ts';
export { sqliteTable } from './sql/open-sqlite.ts';
export type { SqliteClient } from './sql/sqlite.ts';

/** The options of {@link sqliteBackend}. */
export interface SqliteBackendOptions extends BackendOptions, SqlOptions {
  /** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. You keep ownership: close it yourself. */
  readonly client: SqliteClient;
}

/**
 * A backend in a table of SQLite, version 3.35 or later, for several processes of one machine and over their restarts. Each step is one
 * statement; the clock is the machine's. Instances that share the file share the backend.
 *
 * While another process writes to the file, the statement is retried after pauses of up to 50 ms, until `timeout`.
 * Before SQLite reports the conflict it blocks the whole process for its own `busy_timeout`: 5 seconds in
 * `better-sqlite3`, 0 in `node:sqlite`. Set it to about 50 ms, as below (`new DatabaseSync(file, { timeout: 50 })`), and
 * give the backend a connection without open transactions. It sets nothing on the connection. In WAL mode readers
 * and the writer don't block each other.
 *
 * Names are at most 1024 bytes of UTF-8 long, and compared byte by byte. Instants in the table are milliseconds since
 * 1970: `datetime(ends_at / 1000, 'unixepoch')`. The table is created on first use if it is missing;
 * {@link sqliteTable} is for migrations. Earlier versions (`keepVersions`) and the reports of instances are rows of the same table.
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
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function sqliteBackend(given: SqliteBackendOptions): Backend {
  return backendOn(openSqlite, given);
}
