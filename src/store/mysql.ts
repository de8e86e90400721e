import type { SnapshotStore } from '../cluster/store-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import { MYSQL, MYSQL_TEXT, type MysqlClient, MysqlSql } from '../sql/mysql.ts';
import { timeoutOf } from '../sql/sql-kind.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore } from './sql.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link mysqlStore}. */
export interface MysqlStoreOptions extends SqlStoreOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection, which is not inside of a transaction. `autocommit` must be
   * on, as it is by default; other than that, it may have any `sql_mode`, character set and options. It stays yours: end
   * it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A store in a table of MariaDB, or of MySQL 8.0.17 or later. Each step is one command; the clock is the server's. Give
 * it the primary, not replicas. Instances share what shares the table.
 *
 * ```ts no-run
 * import { createPool } from 'mysql2/promise';
 * import { mysqlStore } from 'tickless/store/mysql';
 *
 * const pool = createPool('mysql://localhost/app');
 * const store = mysqlStore({ client: pool });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * await pool.end();
 * ```
 *
 * A command that gets no answer within `timeout` is given up; a pool closes its connection then. One that has waited for
 * a connection of an exhausted pool for so long is not run any more; but a single connection runs late what waits in its
 * own queue, and so a write may come through that counted as failed.
 *
 * Names are at most 512 bytes of UTF-8 long, and compared byte by byte. A payload is sent in base64, which must fit into
 * the server's `max_allowed_packet`: 12 MB of payload by the default of MariaDB, 48 MB by that of MySQL.
 *
 * The table is created at first use, if it is missing. Where the user may not do that, create it beforehand with
 * {@link mysqlStoreTable}; SELECT, INSERT, UPDATE and DELETE are all that is needed then.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlStore(options: MysqlStoreOptions): SnapshotStore {
  const checks = new OptionChecks('store');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlStore(options, {
    client: new MysqlSql(options.client, timeoutOf(options)),
    dialect: MYSQL,
    definition: mysqlStoreTable,
    definedBy: 'mysqlStoreTable()',
    longestName: 512, // of the 768 characters that fit into an index
  });
}

/**
 * The statement that creates the table of {@link mysqlStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when it is no name of a table.
 */
export function mysqlStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, MYSQL.quoted)} (
  name VARCHAR(512) NOT NULL PRIMARY KEY,
  version BIGINT NOT NULL,
  written_at DATETIME(6) NOT NULL,
  payload LONGTEXT NOT NULL
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}
