import type { SnapshotStore } from '../cluster/store-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import { POSTGRES, type PostgresClient, PostgresSql } from '../sql/postgres.ts';
import { timeoutOf } from '../sql/sql-kind.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore } from './sql.ts';

export type { PostgresClient, PostgresCommand, PostgresResult } from '../sql/postgres.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions extends SqlStoreOptions {
  /**
   * A `Pool` of `pg`; or a `Client`, which is connected already and is not inside of a transaction. It stays yours:
   * give the pool a listener of `error`, as `pg` asks for, and end it yourself.
   */
  readonly client: PostgresClient;
}

/**
 * A store in a table of PostgreSQL, version 9.5 or later. Each step is one command, which is a transaction of its own;
 * the clock is the server's. Instances share what shares the table.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { postgresStore } from 'tickless/store/postgres';
 *
 * const pool = new Pool({ connectionString: 'postgres://localhost/app' });
 * pool.on('error', () => {}); // an idle connection broke; the pool replaces it
 * const store = postgresStore({ client: pool });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * await pool.end();
 * ```
 *
 * A command that gets no answer within `timeout` is given up; a pool closes its connection then. One that has waited for
 * a connection of an exhausted pool for so long is not run any more, and `pg` takes it back where it has waited in the
 * queue of a single `Client`. Names are at most 1024
 * bytes long, and compared byte by byte. U+0000 can't occur in names and payloads; JSON escapes it.
 *
 * The table is created at first use, if it is missing. Where the user may not do that, create it beforehand with
 * {@link postgresStoreTable}; SELECT, INSERT, UPDATE and DELETE are all that is needed then.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function postgresStore(options: PostgresStoreOptions): SnapshotStore {
  const checks = new OptionChecks('store');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlStore(options, {
    client: new PostgresSql(options.client, timeoutOf(options)),
    dialect: POSTGRES,
    definition: postgresStoreTable,
    definedBy: 'postgresStoreTable()',
    longestName: 1024, // an entry of an index takes 2700
  });
}

/**
 * The statement that creates the table of {@link postgresStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when it is no name of a table.
 */
export function postgresStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, POSTGRES.quoted)} (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  written_at timestamptz NOT NULL,
  payload text NOT NULL
)`;
}
