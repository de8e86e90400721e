import { type FileLockOptions, fileLock } from '../lock/file.ts';
import { ownOptions } from '../option-checks.ts';
import { type FileStoreOptions, fileStore } from '../store/file.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/file.ts';
export * from '../store/file.ts';
export type { Backend } from './backend.ts';

/** The options of {@link fileBackend}: those of the lock and of the store. */
export interface FileBackendOptions extends FileLockOptions, FileStoreOptions {}

/**
 * A lock and a store in the files of a directory, for the processes of one machine, for the option `backend`: {@link fileLock} and {@link fileStore} with the same options.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { fileBackend } from 'tickless/file';
 *
 * const backend = fileBackend({ directory: 'data/rates' });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * await rates.close();
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function fileBackend(given: FileBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: fileLock(optionsOfLock(options)), store: fileStore(optionsOfStore(options)) };
}
