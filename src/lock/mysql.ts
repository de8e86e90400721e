import { answerTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { MYSQL, MYSQL_TEXT, type MysqlClient, MysqlSql } from '../sql/mysql.ts';
import { tableName } from '../sql/table-name.ts';
import type { Lock } from './create-lock.ts';
import { LOCK_TABLE, type SqlLockOptions, sqlLock } from './sql.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export type { SqlLockOptions } from './sql.ts';

/** Limit of owner, request id and host, in characters. The check counts UTF-16 code units, so astral characters as two. */
const LONGEST_TEXT = 1024;

/** The options of {@link mysqlLock}. */
export interface MysqlLockOptions extends SqlLockOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection without an open transaction. `autocommit` must be on, as it
   * is by default; `sql_mode`, character set and other options may have any value. You keep ownership: end it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A lock in a table of MariaDB (10.5 or later; older versions work as MySQL does) or MySQL (8.0.17 or later). Each step
 * is one command; MySQL, which has no RETURNING, needs two for an acquire. Only the server's clock decides: connect all
 * instances to the primary, not to replicas. Instances that share the table share the lock.
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
 * own queue late: an abandoned acquire may then leave an unused lease until it expires. The first acquire also queries
 * the version of the server. Names are at most 512 bytes of UTF-8 long, and compared byte by byte; owners, request ids
 * and hosts are at most 1024 characters long. Instants in the table are in UTC.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link mysqlLockTable}; the user then needs SELECT, INSERT, UPDATE, and DELETE for the retention.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlLock(given: MysqlLockOptions): Lock {
  const options = ownOptions(given);
  const checks = new OptionChecks('lock');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlLock(options, {
    client: new MysqlSql(options.client, answerTimeoutMs(options?.timeout)),
    dialect: MYSQL,
    definition: mysqlLockTable,
    definedBy: 'mysqlLockTable()',
    longestName: 512, // an index takes at most 768 characters
    longestText: LONGEST_TEXT,
  });
}

/**
 * The statement that creates the table of {@link mysqlLock}: for migrations.
 *
 * @param table @default 'tickless_lock'
 * @throws {OptionError} when the name of the table is invalid.
 */
export function mysqlLockTable(table: string = LOCK_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('lock', table, MYSQL.quoted)} (
  name VARCHAR(512) NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL,
  owner VARCHAR(${LONGEST_TEXT}) NOT NULL,
  request_id VARCHAR(${LONGEST_TEXT}) NOT NULL,
  lease_until DATETIME(6) NOT NULL,
  not_before DATETIME(6) NOT NULL,
  state VARCHAR(16) NOT NULL,
  took_over BOOLEAN NOT NULL,
  acquired_at DATETIME(6) NOT NULL,
  finished_at DATETIME(6),
  host VARCHAR(${LONGEST_TEXT}) NOT NULL,
  last_error TEXT
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}
