import { type DurableObjectLockOptions, durableObjectLock } from '../lock/durable-object.ts';
import { ownOptions } from '../option-checks.ts';
import { type DurableObjectStoreOptions, durableObjectStore } from '../store/durable-object.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/durable-object.ts';
export * from '../store/durable-object.ts';
export {
  type ObjectSql,
  type ObjectState,
  type ObjectStorage,
  TicklessObject,
} from '../tickless-object/index.ts';
export type { Backend } from './backend.ts';

/** The options of {@link durableObjectBackend}: those of the lock and of the store. */
export interface DurableObjectBackendOptions extends DurableObjectLockOptions, DurableObjectStoreOptions {}

/**
 * A lock and a store in Durable Objects of Cloudflare, for the option `backend`: {@link durableObjectLock} and {@link durableObjectStore} with the same options.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function durableObjectBackend(given: DurableObjectBackendOptions): Backend {
  const options = ownOptions(given);
  return {
    lock: durableObjectLock(optionsOfLock(options)),
    store: durableObjectStore(optionsOfStore(options)),
  };
}
