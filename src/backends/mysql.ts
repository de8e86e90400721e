import { type MysqlLockOptions, mysqlLock } from '../lock/mysql.ts';
import { ownOptions } from '../option-checks.ts';
import { type MysqlStoreOptions, mysqlStore } from '../store/mysql.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/mysql.ts';
export * from '../store/mysql.ts';
export type { Backend } from './backend.ts';

/** The options of {@link mysqlBackend}: those of the lock and of the store. */
export interface MysqlBackendOptions extends MysqlLockOptions, MysqlStoreOptions {}

/**
 * A lock and a store in MySQL or MariaDB in one table, for the option `backend`: {@link mysqlLock} and {@link mysqlStore} with the same options.
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
 * @throws {OptionError} when an option breaks a rule.
 */
export function mysqlBackend(given: MysqlBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: mysqlLock(optionsOfLock(options)), store: mysqlStore(optionsOfStore(options)) };
}
