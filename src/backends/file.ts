import type { Backend } from '../engine/backend.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import type { DurationLike } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import { FileRecords } from './files/file-records.ts';

export type { Backend } from '../engine/backend.ts';

/** The options of {@link fileBackend}. */
export interface FileBackendOptions extends BackendOptions {
  /**
   * The directory of the files: a path or a `file:` URL, the same for all processes, on a local disk whose file system
   * has hard links (all common ones except FAT). Created on first use if it is missing. All processes need the rights
   * to read, write and delete in it. With the right to write to it, another user can keep the
   * lease, and chooses the values that are served: do not use the temporary directory of the machine.
   */
  readonly directory: string | URL;
  /**
   * Trusts other users of the machine. By default folders and files are for the user of the process only (0700, 0600); a
   * directory that belongs to another user, or that others can write to, is refused (`BACKEND_DOWN`
   *), and a file of another user counts as damaged. With `true` the umask decides over new files and folders,
   * and those of any user are used. Symbolic links in the place of the directory, its folders and files are never followed.
   * @default false
   */
  readonly allowOtherUsers?: boolean | undefined;
  /**
   * How long a record is kept: of a lock counted from the end of its lease or hold, of a store from the last write. Choose more
   * than the time between two loads: an instance that starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A backend in the files of a directory, for the processes of one machine and over their restarts; containers are on one machine when
 * they share its kernel. It needs no server. Do not use it on a network file system: several machines have no common clock.
 *
 * Durations are measured by the machine's time since boot: steps of the wall clock don't affect leases, holds and ages, and
 * these pause while the machine sleeps. A reboot ends all leases; holds and ages continue, by the wall clock. A process that is
 * killed at any moment blocks the others until its lease expires, no longer. A record appears in one step: a reader never sees a
 * partial one. Names may have any length, payloads 256 MB.
 *
 * Only regular files are read, one at a time, so that a directory on a mount that hangs does not stop other work of the
 * process. Other files in the directory are left alone.
 *
 * Deno and Bun use `/proc/uptime` where it exists, else the wall clock; a step of the wall clock then makes the lease
 * of another process longer or shorter by that step.
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
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function fileBackend(given: FileBackendOptions): Backend {
  return backendOn(openFile, given);
}

function openFile(options: FileBackendOptions): OpenRecords {
  return {
    backend: 'file',
    records: new FileRecords(options),
    options: ['directory', 'allowOtherUsers', 'retention'],
  };
}
