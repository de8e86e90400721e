import { type MongodbLockOptions, mongodbLock } from '../lock/mongodb.ts';
import { ownOptions } from '../option-checks.ts';
import { type MongodbStoreOptions, mongodbStore } from '../store/mongodb.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/mongodb.ts';
export * from '../store/mongodb.ts';
export type { Backend } from './backend.ts';

/** The options of {@link mongodbBackend}: those of the lock and of the store. */
export interface MongodbBackendOptions extends MongodbLockOptions, MongodbStoreOptions {}

/**
 * A lock and a store in a collection of MongoDB, for the option `backend`: {@link mongodbLock} and {@link mongodbStore} with the same options.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { RefreshingValue } from 'tickless';
 * import { mongodbBackend } from 'tickless/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const backend = mongodbBackend({ collection: client.db('app').collection('tickless') });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbBackend(given: MongodbBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: mongodbLock(optionsOfLock(options)), store: mongodbStore(optionsOfStore(options)) };
}
