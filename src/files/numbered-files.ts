import { link, lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomId } from '../cluster/identity.ts';
import { commandTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { folderName, nameOfFolder } from './folder-name.ts';
import { whileInUse } from './in-use.ts';
import { codeOf, ignoreMissing } from './missing.ts';
import { ReadQueue } from './read-queue.ts';
import { readRegularFile } from './regular-file.ts';
import { TrustedDirectory } from './trusted-directory.ts';

/** An older temporary file was left by a process that was killed. */
const ABANDONED_AFTER_MS = 600_000;

/** Without leading zeros, so that each number has one file name. */
const NUMBER = /^(0|[1-9]\d{0,15})$/;

/** A file that is being written: a name that no other program gives. */
const TEMPORARY = /^tickless-[0-9a-f-]{36}\.tmp$/;

/** Options of the adapters that keep files. */
export interface FileOptions {
  readonly directory: string | URL;
  readonly allowOtherUsers?: boolean | undefined;
  readonly timeout?: DurationLike | undefined;
}

/** Names and limits of the folders and files. */
export interface FileKind {
  /** Prefix of the folders, so that a lock and a store can share the directory. */
  readonly folder: string;
  /** Suffix of the files: `.json`. */
  readonly file: string;
  /** The longest file, in bytes. */
  readonly longest: number;
}

/** Contents of the folder of one name. */
export interface Listing {
  /** Ascending. */
  readonly numbers: readonly number[];
  /** Files being written, or left by a process that was killed. */
  readonly temporary: readonly string[];
}

type Durability = 'kill' | 'power failure';

/**
 * A folder for each name, with numbered files in it. A file appears whole, in one step, and is never changed; so a
 * process that is killed at any moment leaves nothing that blocks others.
 *
 * The directory may hold folders and files of other programs: links are not followed, and `sweep` deletes nothing in a
 * folder without a file that its caller has recognized.
 */
export class NumberedFiles {
  readonly #directory: TrustedDirectory;
  readonly #kind: FileKind;
  readonly #reads: ReadQueue;

  /** @throws {OptionError} when an option breaks a rule; `createLock` and `createStore` check the timeout. */
  constructor(about: 'lock' | 'store', options: FileOptions, kind: FileKind) {
    const { directory, allowOtherUsers = false, timeout } = options ?? ({} as FileOptions);
    const checks = new OptionChecks(about);
    const isFileUrl = directory instanceof URL && directory.protocol === 'file:';
    const isPath = isFileUrl || (typeof directory === 'string' && directory !== '');
    checks.that(isPath, 'directory', 'must be the path of a directory, or its file: URL', directory);
    checks.oneOf('allowOtherUsers', allowOtherUsers, [true, false]);
    checks.done();
    const path = resolve(isFileUrl ? fileURLToPath(directory) : String(directory)); // the working directory may change
    this.#directory = new TrustedDirectory(path, allowOtherUsers);
    this.#reads = new ReadQueue(commandTimeoutMs(about, timeout));
    this.#kind = kind;
  }

  /** The path of the folder of a name. */
  folderOf(name: string): string {
    return join(this.#directory.path, folderName(this.#kind.folder, name));
  }

  /** All folders whose names could be ours, with their names where those are recoverable. */
  async folders(): Promise<{ readonly folder: string; readonly name: string | undefined }[]> {
    const { path } = this.#directory;
    const entries = await this.#reads.run(async () => {
      await this.#directory.check();
      return ignoreMissing(readdir(path, { withFileTypes: true }), []);
    });
    return entries.flatMap((entry) => {
      const name = entry.isDirectory() ? nameOfFolder(this.#kind.folder, entry.name) : null;
      return name === null ? [] : [{ folder: join(path, entry.name), name }];
    });
  }

  /** @throws when the directory or the folder is not to be trusted. */
  async list(folder: string): Promise<Listing> {
    const entries = await this.#reads.run(async () => {
      await this.#directory.check(folder);
      return ignoreMissing(readdir(folder), []);
    });
    const { file } = this.#kind;
    const numbers = entries
      .filter((entry) => entry.endsWith(file))
      .map((entry) => entry.slice(0, -file.length));
    return {
      numbers: numbers
        .filter((text) => NUMBER.test(text) && isListed(Number(text)))
        .map(Number)
        .sort((a, b) => a - b),
      temporary: entries.filter((entry) => TEMPORARY.test(entry)),
    };
  }

  /** @returns `undefined`: the file does not exist, or was deleted. Empty: it is not one of ours. */
  read(folder: string, number: number): Promise<string | undefined> {
    const { longest } = this.#kind;
    const isOwn = this.#directory.isOwn.bind(this.#directory);
    return this.#reads.run(() => readRegularFile(this.#path(folder, number), longest, isOwn));
  }

  /**
   * Creates a file unless its number is taken.
   *
   * @param survives `power failure`: the content is on the disk when the file appears. `kill`: after a power failure the
   * file may be empty.
   * @returns whether it was created.
   */
  async create(folder: string, number: number, content: string, survives: Durability): Promise<boolean> {
    if (!isListed(number))
      throw new Error(`no file can follow the highest number in ${folder}; delete the folder`);
    return this.#write(folder, content, survives, async (temporary) => {
      try {
        await link(temporary, this.#path(folder, number));
        return true;
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      }
    });
  }

  /** Creates or replaces the file of a number. @param survives as of `create`. */
  async replace(
    folder: string,
    number: number,
    content: string,
    survives: Durability = 'power failure',
  ): Promise<void> {
    const put = (temporary: string) => whileInUse(() => rename(temporary, this.#path(folder, number)));
    await this.#write(folder, content, survives, put);
  }

  /** Deletes files one after the other; missing files are ignored. @returns whether any existed. */
  async remove(folder: string, numbers: readonly number[]): Promise<boolean> {
    let hasRemoved = false;
    for (const number of numbers) {
      hasRemoved = (await isRemoved(this.#path(folder, number))) || hasRemoved;
    }
    return hasRemoved;
  }

  /** Deletes temporary files of processes that were killed. @returns whether there were any. */
  async tidy(folder: string, { temporary }: Listing): Promise<boolean> {
    let hasRemoved = false;
    for (const file of temporary) {
      const path = join(folder, file);
      const found = await ignoreMissing(lstat(path), undefined);
      const isAbandoned = found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
      if (isAbandoned) hasRemoved = (await isRemoved(path)) || hasRemoved;
    }
    return hasRemoved;
  }

  /**
   * Deletes the files of a name that is not used any more, temporary files of processes that were killed, and then the
   * folder. If there are neither, the folder is left alone: nothing shows that it is ours.
   */
  async sweep(folder: string, listing: Listing, numbers: readonly number[]): Promise<'deleted' | 'kept'> {
    const hasRemoved = await this.remove(folder, numbers);
    if (!(await this.tidy(folder, listing)) && !hasRemoved) return 'kept';
    await this.removeFolder(folder);
    return 'deleted';
  }

  /** Deletes the folder if it is empty. */
  async removeFolder(folder: string): Promise<void> {
    await rmdir(folder).catch(() => {}); // not empty, or deleted already
  }

  #path(folder: string, number: number): string {
    return join(folder, `${number}${this.#kind.file}`);
  }

  /** Writes a temporary file, then moves it to its place with `put`. */
  async #write<R>(
    folder: string,
    content: string,
    survives: Durability,
    put: (temporary: string) => Promise<R>,
  ): Promise<R> {
    const { modes } = this.#directory;
    const { longest } = this.#kind;
    if (content.length > longest || Buffer.byteLength(content) > longest) {
      throw new Error(`the content is longer than ${longest} bytes, and would not be read again`);
    }
    for (let triesLeft = 10; ; triesLeft -= 1) {
      const temporary = join(folder, `tickless-${randomId()}.tmp`);
      try {
        const file = await open(temporary, 'wx', modes.file);
        try {
          await file.writeFile(content);
          if (survives === 'power failure') await file.datasync();
        } finally {
          await file.close();
        }
        return await put(temporary);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || triesLeft === 0) throw error;
        // The folder does not exist yet, or another process has just deleted it while it was empty; or another process
        // has deleted the temporary file as abandoned, because this process was paused.
        await makeFolder(folder, modes.folder);
      } finally {
        await unlink(temporary).catch(() => {}); // renamed, or never created
      }
    }
  }
}

/** Creates missing parents too. Node's `recursive` loops for ever where a file system answers ENOENT for a forbidden path. */
async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeFolder(above, mode);
    await mkdir(path, mode).catch((second: unknown) => {
      if (codeOf(second) !== 'EEXIST') throw second;
    });
  }
}

/** Whether the next number is exact too. */
function isListed(number: number): boolean {
  return number < Number.MAX_SAFE_INTEGER;
}

/** Deletes a file. @returns false: it was missing. */
function isRemoved(path: string): Promise<boolean> {
  return ignoreMissing(
    whileInUse(() => unlink(path)).then(() => true),
    false,
  );
}
