import type { Store } from '../cluster/store-contract.ts';
import { answerTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { MYSQL, MYSQL_TEXT, type MysqlClient, MysqlSql } from '../sql/mysql.ts';
import { tableName } from '../sql/table-name.ts';
import { type SqlStoreOptions, STORE_TABLE, sqlStore, versionsTable } from './sql.ts';
import { fleetTable } from './sql-reports.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export type { SqlStoreOptions } from './sql.ts';

/** The options of {@link mysqlStore}. */
export interface MysqlStoreOptions extends SqlStoreOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection without an open transaction. `autocommit` must be on, as it
   * is by default; `sql_mode`, character set and other options may have any value. You keep ownership: end it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A store in a table of MariaDB, or of MySQL 8.0.17 or later. Each step is one command. Only the server's clock decides:
 * connect all instances to the primary, not to replicas. Instances that share the table share the store.
 *
 * ```ts no-run
 * import { createPool } from 'mysql2/promise';
 * import { mysqlStore } from 'tickless/mysql';
 *
 * const pool = createPool('mysql://localhost/app');
 * const store = mysqlStore({ client: pool });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * await pool.end();
 * ```
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent. A single connection sends the commands of its
 * own queue late: a write that was reported as failed may then still succeed.
 *
 * Names are at most 512 bytes of UTF-8 long, and compared byte by byte. The payload is sent in base64 and must fit into
 * the server's `max_allowed_packet`: 12 MB of payload by the default of MariaDB, 48 MB by that of MySQL.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link mysqlStoreTable}; the user then needs SELECT, INSERT, UPDATE and DELETE. So it is with the table of the reports
 * of instances, {@link mysqlFleetTable}, on first use of a report.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlStore(given: MysqlStoreOptions): Store {
  const options = ownOptions(given);
  const checks = new OptionChecks('store');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  return sqlStore(options, {
    client: new MysqlSql(options.client, answerTimeoutMs(options?.timeout)),
    dialect: MYSQL,
    definition: mysqlStoreTable,
    versionsDefinition: mysqlVersionsTable,
    definedBy: 'mysqlStoreTable()',
    fleet: { definition: mysqlFleetTable, definedBy: 'mysqlFleetTable()' },
    longestName: 512, // an index takes at most 768 characters
  });
}

/**
 * The statement that creates the table of {@link mysqlStore}: for migrations.
 *
 * @param table @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid.
 */
export function mysqlStoreTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName('store', table, MYSQL.quoted)} (
  name VARCHAR(512) NOT NULL PRIMARY KEY,
  version BIGINT NOT NULL,
  written_at DATETIME(6) NOT NULL,
  payload LONGTEXT NOT NULL,
  brief_version BIGINT,
  brief_until DATETIME(6)
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}

/**
 * The statement that creates the table of the versions that {@link mysqlStore} keeps with `keepVersions`: for migrations.
 * Its name is that of the table of the store with `_versions` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function mysqlVersionsTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${versionsTable(table, MYSQL.quoted)} (
  name VARCHAR(512) NOT NULL,
  version BIGINT NOT NULL,
  written_at DATETIME(6) NOT NULL,
  payload LONGTEXT NOT NULL,
  PRIMARY KEY (name, version)
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}

/**
 * The statement that creates the table of the reports that instances leave in {@link mysqlStore} with their checks: for
 * migrations. Its name is that of the table of the store with `_fleet` after it.
 *
 * @param table the table of the store. @default 'tickless_snapshot'
 * @throws {OptionError} when the name of the table is invalid, or too long.
 */
export function mysqlFleetTable(table: string = STORE_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${fleetTable(table, MYSQL.quoted)} (
  name VARCHAR(512) NOT NULL PRIMARY KEY,
  written_at DATETIME(6) NOT NULL,
  expires_at DATETIME(6) NOT NULL,
  report MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}
