import { type PostgresLockOptions, postgresLock } from '../lock/postgres.ts';
import { ownOptions } from '../option-checks.ts';
import { type PostgresStoreOptions, postgresStore } from '../store/postgres.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/postgres.ts';
export * from '../store/postgres.ts';
export type { Backend } from './backend.ts';

/** The options of {@link postgresBackend}: those of the lock and of the store. */
export interface PostgresBackendOptions extends PostgresLockOptions, PostgresStoreOptions {}

/**
 * A lock and a store in a table of PostgreSQL, for the option `backend`: {@link postgresLock} and {@link postgresStore} with the same options.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { RefreshingValue } from 'tickless';
 * import { postgresBackend } from 'tickless/postgres';
 *
 * const backend = postgresBackend({ client: new Pool() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function postgresBackend(given: PostgresBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: postgresLock(optionsOfLock(options)), store: postgresStore(optionsOfStore(options)) };
}
