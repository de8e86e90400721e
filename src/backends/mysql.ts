import type { Backend } from '../engine/backend.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { backendOn } from './backend.ts';
import type { MysqlClient } from './sql/mysql.ts';
import { openMysql } from './sql/open-mysql.ts';
import type { SqlOptions } from './sql/open-records.ts';

export type { Backend } from '../engine/backend.ts';
export type { MysqlClient } from './sql/mysql.ts';
export { mysqlTable } from './sql/open-mysql.ts';
export type { SqlOptions } from './sql/open-records.ts';

/** The options of {@link mysqlBackend}. */
export interface MysqlBackendOptions extends BackendOptions, SqlOptions {
  /**
   * A pool of `mysql2` or `mysql2/promise`; or a connection without an open transaction. `autocommit` must be on, as it
   * is by default; `sql_mode`, character set and other options may have any value. You keep ownership: end it yourself.
   */
  readonly client: MysqlClient;
}

/**
 * A backend in a table of MariaDB (10.5 or later) or MySQL (8.0.17 or later). Each step is one command; MySQL, which has no blocks of
 * statements, needs two or more. Only the server's clock decides: connect all instances to the primary, not to replicas. Instances that share
 * the table share the backend.
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent. A single connection sends the commands of its
 * own queue late: an abandoned acquire may then leave an unused lease until it expires, and a write that was reported as failed may
 * still succeed. The first command to MySQL is a block of statements, which it refuses.
 *
 * Names are at most 512 bytes of UTF-8 long, and compared byte by byte. Instants in the table are in UTC. The payload is sent in base64
 * and must fit into the server's `max_allowed_packet`: 12 MB of payload by the default of MariaDB, 48 MB by that of MySQL.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link mysqlTable}; the user then needs SELECT, INSERT, UPDATE and DELETE. Long payloads and the
 * reports of instances are rows of the same table.
 *
 * ```ts no-run
 * import { createPool } from 'mysql2/promise';
 * import { RefreshingValue } from 'tickless';
 * import { mysqlBackend } from 'tickless/mysql';
 *
 * const backend = mysqlBackend({ client: createPool('mysql://localhost/app') });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function mysqlBackend(given: MysqlBackendOptions): Backend {
  return backendOn(openMysql, given);
}
