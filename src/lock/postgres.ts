import { ownOptions } from '../option-checks.ts';
import { openPostgres } from '../sql/open-postgres.ts';
import type { SqlOptions } from '../sql/open-records.ts';
import type { PostgresClient } from '../sql/postgres.ts';
import type { PostgresJsClient } from '../sql/postgres-js.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export { postgresTable } from '../sql/open-postgres.ts';
export type { SqlOptions } from '../sql/open-records.ts';
export type { PostgresClient, PostgresCommand, PostgresResult } from '../sql/postgres.ts';
export type { PostgresJsClient, PostgresJsQuery, PostgresJsResult } from '../sql/postgres-js.ts';

/** The options of {@link postgresLock}. */
export interface PostgresLockOptions extends LockOptions, SqlOptions {
  /**
   * A `Pool` of `pg`; or a connected `Client` without an open transaction; or the client of the package `postgres`
   * (postgres.js), without a `transform` of columns. You keep ownership: add an `error` listener to a pool of `pg`, as it
   * requires, and end it yourself. Kysely, Drizzle and Prisma are given such a client: pass the same one.
   */
  readonly client: PostgresClient | PostgresJsClient;
}

/**
 * A lock in a table of PostgreSQL, version 9.5 or later. Each step is one command, which is a transaction of its own.
 * Only the server's clock decides. Instances that share the table share the lock; a store may have the same table.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { postgresLock } from 'tickless/postgres';
 *
 * const pool = new Pool({ connectionString: 'postgres://localhost/app' });
 * pool.on('error', () => {}); // an idle connection broke; the pool replaces it
 * const lock = postgresLock({ client: pool });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind);
 * await pool.end();
 * ```
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent; nor is one in the queue of a single `Client`.
 * postgres.js sends commands on busy connections too: one that was sent may take effect later, and its lease is given back then.
 * Names are at most 1024 bytes long, and compared byte by byte; they can't contain U+0000.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link postgresTable}; the user then needs SELECT, INSERT, UPDATE, and DELETE for the retention.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function postgresLock(given: PostgresLockOptions): Lock {
  const options = ownOptions(given);
  const { records, backend } = openPostgres('lock', options);
  return createLock(new RecordLock(records), options, backend);
}
