import { FileRecords } from '../files/file-records.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

/** The options of {@link fileLock}. */
export interface FileLockOptions extends LockOptions {
  /**
   * The directory of the files: a path or a `file:` URL, the same for all processes, on a local disk whose file system
   * has hard links (all common ones except FAT). Created on first use if it is missing. All processes need the rights
   * to read, write and delete in it. A store may share it. With the right to write to it, another user can keep the lease:
   * do not use the temporary directory of the machine.
   */
  readonly directory: string | URL;
  /**
   * Trusts other users of the machine. By default folders and files are for the user of the process only (0700, 0600); a
   * directory that belongs to another user, or that others can write to, is refused (`LockUnavailableError`), and a file
   * of another user counts as damaged. With `true` the umask decides over new files and folders, and those of any user
   * are used. Symbolic links in the place of the directory, its folders and files are never followed.
   * @default false
   */
  readonly allowOtherUsers?: boolean | undefined;
  /**
   * How long the record of an unused name is kept, counted from the end of its lease or hold. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A lock in the files of a directory, for the processes of one machine; containers are on one machine when they share
 * its kernel. It needs no server. Do not use it on a network file system: several machines have no common clock.
 *
 * Durations are measured by the machine's time since boot: steps of the wall clock don't affect leases and holds, and
 * both pause while the machine sleeps. A reboot ends all leases; holds continue, by the wall clock. A process that is
 * killed at any moment blocks the others until its lease expires, no longer. Names may have any length. Other files in the
 * directory are left alone.
 *
 * Deno and Bun use `/proc/uptime` where it exists, else the wall clock; a step of the wall clock then makes the lease
 * of another process longer or shorter by that step.
 *
 * ```ts
 * import { fileLock } from 'tickless/file';
 *
 * const directory = 'data/locks'; // or /var/lib/my-service/locks
 * const lock = fileLock({ directory, leaseFor: { seconds: 10 } });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 0 });
 * console.log((await lock.inspect('rates'))?.state); // done
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function fileLock(given: FileLockOptions): Lock {
  const options = ownOptions(given);
  return createLock(new RecordLock(new FileRecords('lock', options)), options, {
    longestName: undefined,
    options: ['directory', 'allowOtherUsers', 'retention'],
  });
}
