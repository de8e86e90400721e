import { type EtcdLockOptions, etcdLock } from '../lock/etcd.ts';
import { ownOptions } from '../option-checks.ts';
import { type EtcdStoreOptions, etcdStore } from '../store/etcd.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/etcd.ts';
export * from '../store/etcd.ts';
export type { Backend } from './backend.ts';

/** The options of {@link etcdBackend}: those of the lock and of the store. */
export interface EtcdBackendOptions extends EtcdLockOptions, EtcdStoreOptions {}

/**
 * A lock and a store in etcd, for the option `backend`: {@link etcdLock} and {@link etcdStore} with the same options.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { etcdBackend } from 'tickless/etcd';
 *
 * const backend = etcdBackend({ endpoints: 'http://localhost:2379' });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function etcdBackend(given: EtcdBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: etcdLock(optionsOfLock(options)), store: etcdStore(optionsOfStore(options)) };
}
