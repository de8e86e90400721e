import { OptionChecks } from '../option-checks.ts';
import { MYSQL, MYSQL_TEXT, type MysqlClient, MysqlSql } from '../sql/mysql.ts';
import { timeoutOf } from '../sql/sql-kind.ts';
import { tableName } from '../sql/table-name.ts';
import type { Lock } from './create-lock.ts';
import { LOCK_TABLE, type SqlLockOptions, sqlLock } from './sql.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export type { SqlLockOptions } from './sql.ts';

/** Of owner, request id and host. In characters; those that are two UTF-16 code units count twice when checked. */
const LONGEST_TEXT = 1024;

/** The options of {@link mysqlLock}. */
export interface MysqlLockOptions extends SqlLockOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection, which is not inside of a transaction. `autocommit` must be
   * on, as it is by default; other than that, it may have any `sql_mode`, character set and options. It stays yours: end
   * it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A lock in a table of MariaDB (10.5 or later; older ones as MySQL) or MySQL (8.0.17 or later). Each step is one command;
 * but MySQL, which has no RETURNING, needs two for an acquire. The clock is the server's, which must be the same one for
 * all: give it the primary, not replicas. Instances share what shares the table.
 *
 * ```ts no-run
 * import { createPool } from 'mysql2/promise';
 * import { mysqlLock } from 'tickless/lock/mysql';
 *
 * const pool = createPool('mysql://localhost/app');
 * const lock = mysqlLock({ client: pool });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind);
 * await pool.end();
 * ```
 *
 * A command that gets no answer within `timeout` is given up; a pool closes its connection then. One that has waited for
 * a connection of an exhausted pool for so long is not run any more; but a single connection runs late what waits in its
 * own queue: an acquire may leave a lease then that nobody has, until it expires. The first acquire also asks for the
 * version of the server. Names are at most 512 bytes of UTF-8 long, and compared byte by byte; owners, request ids and
 * hosts are at most 1024 characters long. Instants in the table are in UTC.
 *
 * The table is created at first use, if it is missing. Where the user may not do that, create it beforehand with
 * {@link mysqlLockTable}; SELECT, INSERT, UPDATE, and DELETE for the retention, are all that is needed then.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlLock(options: MysqlLockOptions): Lock {
  const checks = new OptionChecks('lock');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlLock(options, {
    client: new MysqlSql(options.client, timeoutOf(options)),
    dialect: MYSQL,
    definition: mysqlLockTable,
    definedBy: 'mysqlLockTable()',
    longestName: 512, // of the 768 characters that fit into an index
    longestText: LONGEST_TEXT,
  });
}

/**
 * The statement that creates the table of {@link mysqlLock}: for migrations.
 *
 * @param table @default 'tickless_lock'
 * @throws {OptionError} when it is no name of a table.
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
