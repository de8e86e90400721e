import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { geteuid } from 'node:process';
import { systemClock } from '../../time/clock.ts';
import { ignoreMissing } from './missing.ts';

/** The directory itself is checked at most once a second: no other user can replace one that was sound. */
const CHECK_EVERY_MS = 1000;

/** For others: write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Decides which folders and files of a directory are trusted. With the right to write there, another user
 * chooses the values that are served. So unless the caller trusts other users of the machine, everything must belong to the user of this process.
 * Where the system has no such users (Windows), only links are refused.
 */
export class TrustedDirectory {
  readonly path: string;
  /** Permissions of new folders and files, before the umask. */
  readonly modes: { readonly folder: number; readonly file: number };
  readonly #user: number | undefined;
  /** When the directory itself was found to be trusted. */
  #checkedAt: number = -Infinity;

  constructor(path: string, allowOtherUsers: boolean) {
    this.path = path;
    this.modes = allowOtherUsers ? { folder: 0o777, file: 0o666 } : { folder: 0o700, file: 0o600 };
    this.#user = allowOtherUsers ? undefined : geteuid?.();
  }

  /** @throws when the directory, or a folder in it, is a link, or is in the hands of other users. Both may be missing. */
  async check(folder?: string): Promise<void> {
    const now = systemClock.monotonic();
    if (now - this.#checkedAt >= CHECK_EVERY_MS) {
      if (!(await this.#isFound(this.path))) return;
      this.#checkedAt = now;
    }
    if (folder !== undefined) await this.#isFound(folder);
  }

  async #isFound(path: string): Promise<boolean> {
    const found = await ignoreMissing(lstat(path), undefined);
    const problem = found && this.#problemOf(found);
    if (problem !== undefined) throw new Error(`'${path}' ${problem}`);
    return found !== undefined;
  }

  /** Whether the user of this process has written a file, as far as that is known. */
  isOwn({ uid }: Stats): boolean {
    return this.#user === undefined || uid === this.#user;
  }

  #problemOf(found: Stats): string | undefined {
    if (found.isSymbolicLink()) return 'is a link, which is not followed; expected the directory itself';
    if (!found.isDirectory() || this.#user === undefined) return undefined; // the next step reports a file
    const way = 'expected a directory for this user only (chmod 700), or the option allowOtherUsers: true';
    if (found.uid !== this.#user) return `belongs to user ${found.uid}, not to ${this.#user}; ${way}`;
    if ((found.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
    return `is a directory that other users can write to (mode ${(found.mode & 0o7777).toString(8)}); ${way}`;
  }
}
