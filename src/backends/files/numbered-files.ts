import { link, lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomId } from '../../cluster/identity.ts';
import { commandTimeoutMs } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import type { DurationLike } from '../../time/duration.ts';
import { fileOf, isListed, type Listing, listingOf, type TextFile } from './file-names.ts';
import { folderName, mayBeginWith, nameOfFolder } from './folder-name.ts';
import { whileInUse } from './in-use.ts';
import { makeFolder } from './make-folder.ts';
import { codeOf, ignoreMissing } from './missing.ts';
import { ReadQueue } from './read-queue.ts';
import { readRegularFile } from './regular-file.ts';
import { TrustedDirectory } from './trusted-directory.ts';

/** An older file without a use was left by a process that was killed. */
const ABANDONED_AFTER_MS = 600_000;

/** Begins the names of all folders. Those of earlier versions of the library begin with `lock-`, `snapshot-` and `report-`. */
const FOLDER = 'record-';

/** A numbered file is a record, which is some hundred bytes long, and its texts. In bytes. */
const LONGEST_NUMBERED = 1024 * 1024;

/** A text of half a gigabyte would be too long for the JavaScript engine. In bytes. */
const LONGEST_TEXT = 256 * 1024 * 1024;

/** Options of the backend. */
export interface FileOptions {
  readonly directory: string | URL;
  readonly allowOtherUsers?: boolean | undefined;
  readonly timeout?: DurationLike | undefined;
}

/**
 * `power failure`: the content is on the disk when the file appears. `kill`: after a power failure the file may be empty.
 */
export type Durability = 'kill' | 'power failure';

/**
 * A folder for each name, with numbered files in it. Such a file appears whole, in one step, and is never changed; so a
 * process that is killed at any moment leaves nothing that blocks others. Long texts are in files beside them, which are
 * complete before a numbered file names them.
 *
 * The directory may hold folders and files of other programs: links are not followed, and nothing is deleted but what has
 * a name of ours.
 */
export class NumberedFiles {
  readonly #directory: TrustedDirectory;
  readonly #reads: ReadQueue;

  /** @throws {TicklessError} `OPTION` when an option breaks a rule; `createLock` and `createStore` check the timeout. */
  constructor(options: FileOptions) {
    const { directory, allowOtherUsers = false, timeout } = options ?? ({} as FileOptions);
    const checks = new OptionChecks('backend');
    const isFileUrl = directory instanceof URL && directory.protocol === 'file:';
    const isPath = isFileUrl || (typeof directory === 'string' && directory !== '');
    checks.that(isPath, 'directory', 'must be the path of a directory, or its file: URL', directory);
    checks.oneOf('allowOtherUsers', allowOtherUsers, [true, false]);
    checks.done();
    const path = resolve(isFileUrl ? fileURLToPath(directory) : String(directory)); // the working directory may change
    this.#directory = new TrustedDirectory(path, allowOtherUsers);
    this.#reads = new ReadQueue(commandTimeoutMs(timeout));
  }

  /** The path of the folder of a name. */
  folderOf(name: string): string {
    return join(this.#directory.path, folderName(FOLDER, name));
  }

  /** All folders of names that may begin with one of these texts, with their names where those are recoverable. */
  async folders(
    beginnings: readonly string[],
  ): Promise<{ readonly folder: string; readonly name: string | undefined }[]> {
    const { path } = this.#directory;
    const entries = await this.#reads.run(async () => {
      await this.#directory.check();
      return ignoreMissing(readdir(path, { withFileTypes: true }), []);
    });
    return entries.flatMap((entry) => {
      const name = entry.isDirectory() ? nameOfFolder(FOLDER, entry.name) : null;
      const isWanted = name !== null && beginnings.some((one) => mayBeginWith(FOLDER, entry.name, one));
      return isWanted ? [{ folder: join(path, entry.name), name }] : [];
    });
  }

  /** @throws when the directory or the folder is not to be trusted. */
  async list(folder: string): Promise<Listing> {
    return this.#reads.run(async () => {
      await this.#directory.check(folder);
      return listingOf(await ignoreMissing(readdir(folder), []));
    });
  }

  /** The path of the file of a number. */
  pathOf(folder: string, number: number): string {
    return join(folder, fileOf(number));
  }

  /** @returns `undefined`: the file does not exist, or was deleted. `null`: it is not one of ours. */
  read(folder: string, number: number): Promise<string | undefined | null> {
    return this.#read(this.pathOf(folder, number), (bytes) => bytes <= LONGEST_NUMBERED);
  }

  /** @param most reads no more bytes. @returns `undefined`: the file was deleted, or is damaged. */
  async readText(folder: string, { file, bytes }: TextFile, most?: number): Promise<string | undefined> {
    return (await this.#read(join(folder, file), (found) => found === bytes, most)) ?? undefined;
  }

  #read(
    path: string,
    isLength: (bytes: number) => boolean,
    most?: number,
  ): Promise<string | undefined | null> {
    const isOwn = this.#directory.isOwn.bind(this.#directory);
    return this.#reads.run(() =>
      readRegularFile(path, (stats) => isLength(stats.size) && isOwn(stats), most),
    );
  }

  /** Creates the file of a number unless that is taken. @returns whether it was created. */
  async create(folder: string, number: number, content: string, survives: Durability): Promise<boolean> {
    if (!isListed(number))
      throw new Error(`no file can follow the highest number in ${folder}; delete the folder`);
    limited(content, LONGEST_NUMBERED);
    return this.#write(folder, 'tmp', content, survives, async (temporary) => {
      try {
        await link(temporary, this.pathOf(folder, number));
        return true;
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      } finally {
        await unlink(temporary).catch(() => {});
      }
    });
  }

  /** Writes a text into a new file. */
  async writeText(folder: string, text: string, survives: Durability): Promise<TextFile> {
    const bytes = limited(text, LONGEST_TEXT);
    return this.#write(folder, 'text', text, survives, async (path) => ({ file: basename(path), bytes }));
  }

  /** Deletes files that have no use any more, one after the other; missing files are ignored. */
  async remove(folder: string, files: readonly string[]): Promise<void> {
    for (const file of files) await remove(join(folder, file));
  }

  /** Deletes files that processes which were killed have left. @returns whether there were any. */
  async removeAbandoned(folder: string, files: readonly string[]): Promise<boolean> {
    let hasRemoved = false;
    for (const file of files) {
      const path = join(folder, file);
      if (!(await isAbandoned(path))) continue;
      await remove(path);
      hasRemoved = true;
    }
    return hasRemoved;
  }

  /** Whether the file of a number is so old that the process which has written it does not go on. */
  async isAbandoned(folder: string, number: number): Promise<boolean> {
    return isAbandoned(this.pathOf(folder, number));
  }

  /** Deletes the folder if it is empty. */
  async removeFolder(folder: string): Promise<void> {
    await rmdir(folder).catch(() => {}); // not empty, or deleted already
  }

  /** Writes a file with a name of its own, and then uses it. */
  async #write<R>(
    folder: string,
    ending: 'tmp' | 'text',
    content: string,
    survives: Durability,
    use: (path: string) => Promise<R>,
  ): Promise<R> {
    const { modes } = this.#directory;
    for (let triesLeft = 10; ; triesLeft -= 1) {
      const path = join(folder, `tickless-${randomId()}.${ending}`);
      try {
        const file = await open(path, 'wx', modes.file);
        try {
          await file.writeFile(content);
          if (survives === 'power failure') await file.datasync();
        } finally {
          await file.close();
        }
        return await use(path);
      } catch (error) {
        await unlink(path).catch(() => {}); // never created, most likely
        if (codeOf(error) !== 'ENOENT' || triesLeft === 0) throw error;
        // The folder does not exist yet, or another process has just deleted it while it was empty; or another process
        // has deleted the temporary file as abandoned, because this process was paused.
        await makeFolder(folder, modes.folder);
      }
    }
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await ignoreMissing(lstat(path), undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}

/** The length in bytes. @throws for a content that would not be read again. */
function limited(content: string, longest: number): number {
  const bytes = content.length <= longest ? Buffer.byteLength(content) : Infinity;
  if (bytes <= longest) return bytes;
  throw new Error(`the content is longer than ${longest} bytes, and would not be read again`);
}

/** Deletes a file that may be missing. */
function remove(path: string): Promise<void> {
  return ignoreMissing(
    whileInUse(() => unlink(path)),
    undefined,
  );
}
