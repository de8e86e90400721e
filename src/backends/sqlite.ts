import { type SqliteLockOptions, sqliteLock } from '../lock/sqlite.ts';
import { ownOptions } from '../option-checks.ts';
import { type SqliteStoreOptions, sqliteStore } from '../store/sqlite.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/sqlite.ts';
export * from '../store/sqlite.ts';
export type { Backend } from './backend.ts';

/** The options of {@link sqliteBackend}: those of the lock and of the store. */
export interface SqliteBackendOptions extends SqliteLockOptions, SqliteStoreOptions {}

/**
 * A lock and a store in SQLite in one table, for the option `backend`: {@link sqliteLock} and {@link sqliteStore} with the same options.
 *
 * ```ts no-run
 * import Database from 'better-sqlite3';
 * import { RefreshingValue } from 'tickless';
 * import { sqliteBackend } from 'tickless/sqlite';
 *
 * const backend = sqliteBackend({ client: new Database('app.db') });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function sqliteBackend(given: SqliteBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: sqliteLock(optionsOfLock(options)), store: sqliteStore(optionsOfStore(options)) };
}
