import type { Store } from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { MysqlClient } from '../sql/mysql.ts';
import { openMysql } from '../sql/open-mysql.ts';
import type { SqlOptions } from '../sql/open-records.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type { MysqlClient, MysqlCommand, MysqlField } from '../sql/mysql.ts';
export { mysqlTable } from '../sql/open-mysql.ts';
export type { SqlOptions } from '../sql/open-records.ts';

/** The options of {@link mysqlStore}. */
export interface MysqlStoreOptions extends StoreOptions, SqlOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection without an open transaction. `autocommit` must be on, as it
   * is by default; `sql_mode`, character set and other options may have any value. You keep ownership: end it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A store in a table of MariaDB, or of MySQL 8.0.17 or later. Each step is one command; MySQL, which has no blocks of statements,
 * needs two for a write, and four for one without a token. Only the server's clock decides: connect all instances to the primary, not
 * to replicas. Instances that share the table share the store; a lock may have the same table.
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
 * {@link mysqlTable}; the user then needs SELECT, INSERT, UPDATE and DELETE. Earlier versions (`keepVersions`) and the
 * reports of instances are rows of the same table.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlStore(given: MysqlStoreOptions): Store {
  const options = ownOptions(given);
  const { records, backend } = openMysql('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, backend);
}
