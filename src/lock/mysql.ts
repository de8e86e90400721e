import { ownOptions } from '../option-checks.ts';
import type { MysqlClient } from '../sql/mysql.ts';
import { openMysql } from '../sql/open-mysql.ts';
import type { SqlOptions } from '../sql/open-records.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export { mysqlTable } from '../sql/open-mysql.ts';
export type { SqlOptions } from '../sql/open-records.ts';

/** The options of {@link mysqlLock}. */
export interface MysqlLockOptions extends LockOptions, SqlOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection without an open transaction. `autocommit` must be on, as it
   * is by default; `sql_mode`, character set and other options may have any value. You keep ownership: end it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A lock in a table of MariaDB (10.5 or later) or MySQL (8.0.17 or later). Each step is one command; MySQL, which has no blocks of
 * statements, needs two. Only the server's clock decides: connect all instances to the primary, not to replicas. Instances that share
 * the table share the lock; a store may have the same table.
 *
 * ```ts no-run
 * import { createPool } from 'mysql2/promise';
 * import { mysqlLock } from 'tickless/mysql';
 *
 * const pool = createPool('mysql://localhost/app');
 * const lock = mysqlLock({ client: pool });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind);
 * await pool.end();
 * ```
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent. A single connection sends the commands of its
 * own queue late: an abandoned acquire may then leave an unused lease until it expires. The first command to MySQL is
 * a block of statements, which it refuses. Names are at most 512 bytes of UTF-8 long, and compared byte by byte. Instants in the table are in UTC.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link mysqlTable}; the user then needs SELECT, INSERT, UPDATE, and DELETE for the retention.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlLock(given: MysqlLockOptions): Lock {
  const options = ownOptions(given);
  const { records, backend } = openMysql('lock', options);
  return createLock(new RecordLock(records), options, backend);
}
