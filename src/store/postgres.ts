import type { Store } from '../cluster/store-contract.ts';
import { answerTimeoutMs } from '../cluster/time-limits.ts';
import { ownOptions } from '../option-checks.ts';
import { POSTGRES, type PostgresClient, PostgresSql } from '../sql/postgres.ts';
import { type PostgresJsClient, postgresClient } from '../sql/postgres-js.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore, versionsTable } from './sql.ts';
import { fleetTable } from './sql-reports.ts';

export type { Hints } from '../cluster/hint-contract.ts';
export type { PostgresClient, PostgresCommand, PostgresResult } from '../sql/postgres.ts';
export {
  type PostgresHintsOptions,
  type PostgresListener,
  type PostgresNotification,
  postgresHints,
} from '../sql/postgres-hints.ts';
export type { PostgresJsClient, PostgresJsQuery, PostgresJsResult } from '../sql/postgres-js.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions extends SqlStoreOptions {
  /**
   * A `Pool` of `pg`; or a connected `Client` without an open transaction; or the client of the package `postgres`
   * (postgres.js), without a `transform` of columns. You keep ownership: add an `error` listener to a pool of `pg`, as it
   * requires, and end it yourself. Kysely, Drizzle and Prisma are given such a client: pass the same one.
   */
  readonly client: PostgresClient | PostgresJsClient;
}

/**
 * A store in a table of PostgreSQL, version 9.5 or later. Each step is one command, which is a transaction of its own.
 * Only the server's clock measures ages. Instances that share the table share the store.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { postgresStore } from 'tickless/postgres';
 *
 * const pool = new Pool({ connectionString: 'postgres://localhost/app' });
 * pool.on('error', () => {}); // an idle connection broke; the pool replaces it
 * const store = postgresStore({ client: pool });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * await pool.end();
 * ```
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent; nor is one in the queue of a single `Client`.
 * postgres.js sends commands on busy connections too: one that was sent may take effect later.
 * Names are at most 1024 bytes long, and compared byte by byte. Names and payloads can't contain U+0000; JSON escapes it.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link postgresStoreTable}; the user then needs SELECT, INSERT, UPDATE and DELETE. So it is with the table of the reports
 * of instances, {@link postgresFleetTable}, on first use of a report.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function postgresStore(given: PostgresStoreOptions): Store {
  const options = ownOptions(given);
  const client = postgresClient('store', options?.client);
  return sqlStore(options, {
    client: new PostgresSql(client, answerTimeoutMs(options?.timeout)),
    dialect: POSTGRES,
    definition: postgresStoreTable,
    versionsDefinition: postgresVersionsTable,
    definedBy: 'postgresStoreTable()',
    fleet: { definition: postgresFleetTable, definedBy: 'postgresFleetTable()' },
    longestName: 1024, // an index entry takes at most 2700 bytes
  });
}

/**
 * The statement that creates the table of {@link postgresStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid.
 */
export function postgresStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, POSTGRES.quoted)} (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  written_at timestamptz NOT NULL,
  payload text NOT NULL,
  brief_version bigint,
  brief_until timestamptz
)`;
}

/**
 * The statement that creates the table of the versions that {@link postgresStore} keeps with `keepVersions`: for migrations.
 * Its name is that of the table of the store with `_versions` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function postgresVersionsTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${versionsTable(table, POSTGRES.quoted)} (
  name text COLLATE "C",
  version bigint,
  written_at timestamptz NOT NULL,
  payload text NOT NULL,
  PRIMARY KEY (name, version)
)`;
}

/**
 * The statement that creates the table of the reports that instances leave in {@link postgresStore} with their checks: for
 * migrations. Its name is that of the table of the store with `_fleet` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function postgresFleetTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${fleetTable(table, POSTGRES.quoted)} (
  name text COLLATE "C" PRIMARY KEY,
  written_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  report text NOT NULL
)`;
}
