import type { Store } from '../cluster/store-contract.ts';
import { FileRecords } from '../files/file-records.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

/** The options of {@link fileStore}. */
export interface FileStoreOptions extends StoreOptions {
  /**
   * The directory of the files: a path or a `file:` URL, the same for all processes, on a local disk whose file system
   * has hard links (all common ones except FAT). Created on first use if it is missing. All processes need the rights
   * to read, write and delete in it. A lock may share it. With the right to write to it, another user chooses the values
   * that are served: do not use the temporary directory of the machine.
   */
  readonly directory: string | URL;
  /**
   * Trusts other users of the machine. By default folders and files are for the user of the process only (0700, 0600); a
   * directory that belongs to another user, or that others can write to, is refused (`StoreUnavailableError`), and a
   * file of another user counts as damaged. With `true` the umask decides over new files and folders, and those of any
   * user are used. Symbolic links in the place of the directory, its folders and files are never followed.
   * @default false
   */
  readonly allowOtherUsers?: boolean | undefined;
  /**
   * How long a snapshot is kept after its last write. Choose more than the time between two loads: a process that
   * starts without a snapshot has to load. Later writes of other names delete older snapshots. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in the files of a directory, for the processes of one machine and over their restarts. It needs no server.
 * Each snapshot is a file that appears in one step: a reader never sees a partial one, whichever process is killed.
 * Names may have any length, payloads 256 MB.
 *
 * Only regular files are read, one at a time, so that a directory on a mount that hangs does not stop other work of the
 * process. Other files in the directory are left alone.
 *
 * The machine's time since boot measures the age of a snapshot, so that steps of the wall clock don't change it; after a
 * reboot the wall clock does.
 *
 * ```ts
 * import { fileStore } from 'tickless/file';
 *
 * const store = fileStore({ directory: 'data/snapshots' }); // or /var/lib/my-service/snapshots
 * await store.write('rates', '{"EUR":1}');
 * console.log((await store.read('rates'))?.payload); // {"EUR":1}
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function fileStore(given: FileStoreOptions): Store {
  const options = ownOptions(given);
  const records = new FileRecords('store', options);
  return createStore(new RecordStore(records, options?.keepVersions), options, {
    longestName: undefined,
    options: ['directory', 'allowOtherUsers', 'retention'],
  });
}
