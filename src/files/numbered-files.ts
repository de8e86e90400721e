import { link, mkdir, open, readdir, readFile, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomId } from '../cluster/identity.ts';
import { OptionChecks } from '../option-checks.ts';
import { folderName, nameOfFolder } from './folder-name.ts';

/** An older temporary file was left by a process that was killed. */
const ABANDONED_AFTER_MS = 600_000;

/** Without leading zeros, so that each number has one file name. */
const NUMBER = /^(0|[1-9]\d{0,15})$/;

/** Names of the folders and files. */
export interface FileNaming {
  /** Prefix of the folders, so that a lock and a store can share the directory. */
  readonly folder: string;
  /** Suffix of the files: `.json`. */
  readonly file: string;
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
 */
export class NumberedFiles {
  readonly #directory: string;
  readonly #naming: FileNaming;

  /** @throws {OptionError} when the directory is neither a path nor a `file:` URL. */
  constructor(about: 'lock' | 'store', directory: string | URL, naming: FileNaming) {
    const checks = new OptionChecks(about);
    const isFileUrl = directory instanceof URL && directory.protocol === 'file:';
    const isPath = isFileUrl || (typeof directory === 'string' && directory !== '');
    checks.that(isPath, 'directory', 'must be the path of a directory, or its file: URL', directory);
    checks.done();
    this.#directory = resolve(isFileUrl ? fileURLToPath(directory) : String(directory)); // the working directory may change
    this.#naming = naming;
  }

  /** The path of the folder of a name. */
  folderOf(name: string): string {
    return join(this.#directory, folderName(this.#naming.folder, name));
  }

  /** All folders, with their names where those are recoverable. */
  async folders(): Promise<{ readonly folder: string; readonly name: string | undefined }[]> {
    const entries = await ignoreMissing(readdir(this.#directory), []);
    return entries.flatMap((entry) => {
      const name = nameOfFolder(this.#naming.folder, entry);
      return name === null ? [] : [{ folder: join(this.#directory, entry), name }];
    });
  }

  async list(folder: string): Promise<Listing> {
    const entries = await ignoreMissing(readdir(folder), []);
    const { file } = this.#naming;
    const numbers = entries
      .filter((entry) => entry.endsWith(file))
      .map((entry) => entry.slice(0, -file.length));
    return {
      numbers: numbers
        .filter((text) => NUMBER.test(text) && isListed(Number(text)))
        .map(Number)
        .sort((a, b) => a - b),
      temporary: entries.filter((entry) => entry.endsWith('.tmp')),
    };
  }

  /** @returns `undefined`: the file does not exist, or was deleted. */
  async read(folder: string, number: number): Promise<string | undefined> {
    const path = this.#path(folder, number);
    try {
      return await ignoreMissing(readFile(path, 'utf8'), undefined);
    } catch (error) {
      const { message } = error as Error;
      if (message.includes(path)) throw error;
      throw new Error(`${message} '${path}'`, { cause: error }); // EISDIR does not include the path
    }
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

  /** Creates or replaces the file of a number; it survives a power failure. */
  async replace(folder: string, number: number, content: string): Promise<void> {
    const put = (temporary: string) => rename(temporary, this.#path(folder, number));
    await this.#write(folder, content, 'power failure', put);
  }

  /** Deletes files one after the other; missing files are ignored. @returns whether any existed. */
  async remove(folder: string, numbers: readonly number[]): Promise<boolean> {
    let hasRemoved = false;
    for (const number of numbers) {
      const path = this.#path(folder, number);
      hasRemoved =
        (await ignoreMissing(
          unlink(path).then(() => true),
          false,
        )) || hasRemoved;
    }
    return hasRemoved;
  }

  /** Deletes temporary files of processes that were killed. */
  async tidy(folder: string, { temporary }: Listing): Promise<void> {
    for (const file of temporary) {
      const path = join(folder, file);
      const found = await ignoreMissing(stat(path), undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
        await ignoreMissing(unlink(path), undefined);
    }
  }

  /** Deletes the folder if it is empty. */
  async removeFolder(folder: string): Promise<void> {
    await rmdir(folder).catch(() => {}); // not empty, or deleted already
  }

  #path(folder: string, number: number): string {
    return join(folder, `${number}${this.#naming.file}`);
  }

  /** Writes a temporary file, then moves it to its place with `put`. */
  async #write<R>(
    folder: string,
    content: string,
    survives: Durability,
    put: (temporary: string) => Promise<R>,
  ): Promise<R> {
    for (let triesLeft = 10; ; triesLeft -= 1) {
      const temporary = join(folder, `${randomId()}.tmp`);
      try {
        const file = await open(temporary, 'wx');
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
        await makeFolder(folder);
      } finally {
        await unlink(temporary).catch(() => {}); // renamed, or never created
      }
    }
  }
}

/** Creates missing parents too. Node's `recursive` loops for ever where a file system answers ENOENT for a forbidden path. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await mkdir(path).catch((second: unknown) => {
      if (codeOf(second) !== 'EEXIST') throw second;
    });
  }
}

/** Whether the next number is exact too. */
function isListed(number: number): boolean {
  return number < Number.MAX_SAFE_INTEGER;
}

/** Maps ENOENT to `nothing`; rethrows other errors. */
async function ignoreMissing<R, N>(promise: Promise<R>, nothing: N): Promise<R | N> {
  try {
    return await promise;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return nothing;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
