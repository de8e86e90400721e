import { type MemoryLockOptions, memoryLock } from '../lock/memory.ts';
import { ownOptions } from '../option-checks.ts';
import { type MemoryStoreOptions, memoryStore } from '../store/memory.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/memory.ts';
export * from '../store/memory.ts';
export type { Backend } from './backend.ts';

/** The options of {@link memoryBackend}: those of the lock and of the store. */
export interface MemoryBackendOptions extends MemoryLockOptions, MemoryStoreOptions {}

/**
 * A lock and a store in the memory of this process: for tests, and for several values that share one source, for the option `backend`: {@link memoryLock} and {@link memoryStore} with the same options.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { memoryBackend } from 'tickless/memory';
 *
 * const backend = memoryBackend();
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * await rates.close();
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryBackend(given: MemoryBackendOptions = {}): Backend {
  const options = ownOptions(given);
  return { lock: memoryLock(optionsOfLock(options)), store: memoryStore(optionsOfStore(options)) };
}
