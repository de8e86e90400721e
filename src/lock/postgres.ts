import { OptionChecks } from '../option-checks.ts';
import { POSTGRES, type PostgresClient, PostgresSql } from '../sql/postgres.ts';
import { timeoutOf } from '../sql/sql-kind.ts';
import { tableName } from '../sql/table-name.ts';
import type { Lock } from './create-lock.ts';
import { LOCK_TABLE, type SqlLockOptions, sqlLock } from './sql.ts';

export type { PostgresClient, PostgresCommand, PostgresResult } from '../sql/postgres.ts';
export type { SqlLockOptions } from './sql.ts';

/** The options of {@link postgresLock}. */
export interface PostgresLockOptions extends SqlLockOptions {
  /**
   * A `Pool` of `pg`; or a `Client`, which is connected already and is not inside of a transaction. It stays yours:
   * give the pool a listener of `error`, as `pg` asks for, and end it yourself.
   */
  readonly client: PostgresClient;
}

/**
 * A lock in a table of PostgreSQL, version 9.5 or later. Each step is one command, which is a transaction of its own; the
 * clock is the server's. Instances share what shares the table: one per server and name of the table.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { postgresLock } from 'tickless/lock/postgres';
 *
 * const pool = new Pool({ connectionString: 'postgres://localhost/app' });
 * pool.on('error', () => {}); // an idle connection broke; the pool replaces it
 * const lock = postgresLock({ client: pool });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind);
 * await pool.end();
 * ```
 *
 * A command that gets no answer within `timeout` is given up; a pool closes its connection then. One that has waited for
 * a connection of an exhausted pool for so long is not run any more, and `pg` takes it back where it has waited in the
 * queue of a single `Client`. Names are at most 1024
 * bytes long, and compared byte by byte; U+0000 can't occur in them.
 *
 * The table is created at first use, if it is missing. Where the user may not do that, create it beforehand with
 * {@link postgresLockTable}; SELECT, INSERT, UPDATE, and DELETE for the retention, are all that is needed then.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function postgresLock(options: PostgresLockOptions): Lock {
  const checks = new OptionChecks('lock');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlLock(options, {
    client: new PostgresSql(options.client, timeoutOf(options)),
    dialect: POSTGRES,
    definition: postgresLockTable,
    definedBy: 'postgresLockTable()',
    longestName: 1024, // an entry of an index takes 2700
  });
}

/**
 * The statement that creates the table of {@link postgresLock}: for migrations.
 *
 * @param table @default 'tickless_lock'
 * @throws {OptionError} when it is no name of a table.
 */
export function postgresLockTable(table: string = LOCK_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('lock', table, POSTGRES.quoted)} (
  name text COLLATE "C" PRIMARY KEY,
  token bigint NOT NULL,
  owner text NOT NULL,
  request_id text NOT NULL,
  lease_until timestamptz NOT NULL,
  not_before timestamptz NOT NULL,
  state text NOT NULL,
  took_over boolean NOT NULL,
  acquired_at timestamptz NOT NULL,
  finished_at timestamptz,
  host text NOT NULL,
  last_error text
)`;
}
