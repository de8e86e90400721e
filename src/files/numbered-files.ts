import { link, mkdir, open, readdir, readFile, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomId } from '../cluster/identity.ts';
import { OptionChecks } from '../option-checks.ts';
import { folderName, nameOfFolder } from './folder-name.ts';

/** A temporary file that is older than that was left by a process that was killed. */
const ABANDONED_AFTER_MS = 600_000;

/** No leading zero, so that no number has two files. */
const NUMBER = /^(0|[1-9]\d{0,15})$/;

/** How the folders and files are named. */
export interface FileNaming {
  /** What the folders begin with, so that locks and stores may share the directory. */
  readonly folder: string;
  /** What the files end in: `.json`. */
  readonly file: string;
}

/** What is in the folder of a name. */
export interface Listing {
  /** Ascending. */
  readonly numbers: readonly number[];
  /** Files being written; or left, by a process that was killed. */
  readonly temporary: readonly string[];
}

type Survival = 'kill' | 'power failure';

/**
 * A folder for each name, and in it files that bear numbers. A file appears in one step, whole, and is never changed;
 * so a process may be killed at any moment and leaves nothing that others have to wait for.
 */
export class NumberedFiles {
  readonly #directory: string;
  readonly #naming: FileNaming;

  /** @throws {OptionError} when the directory is none. */
  constructor(about: 'lock' | 'store', directory: string | URL, naming: FileNaming) {
    const checks = new OptionChecks(about);
    const isFileUrl = directory instanceof URL && directory.protocol === 'file:';
    const isPath = isFileUrl || (typeof directory === 'string' && directory !== '');
    checks.that(isPath, 'directory', 'must be the path of a directory, or its file: URL', directory);
    checks.done();
    this.#directory = resolve(isFileUrl ? fileURLToPath(directory) : String(directory)); // processes may change theirs
    this.#naming = naming;
  }

  /** The path of the folder of a name. */
  folderOf(name: string): string {
    return join(this.#directory, folderName(this.#naming.folder, name));
  }

  /** All folders there are, with the name where the folder tells it. */
  async folders(): Promise<{ readonly folder: string; readonly name: string | undefined }[]> {
    const entries = await orNothing(readdir(this.#directory), []);
    return entries.flatMap((entry) => {
      const name = nameOfFolder(this.#naming.folder, entry);
      return name === null ? [] : [{ folder: join(this.#directory, entry), name }];
    });
  }

  async list(folder: string): Promise<Listing> {
    const entries = await orNothing(readdir(folder), []);
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

  /** @returns `undefined`: there is no such file, any more. */
  async read(folder: string, number: number): Promise<string | undefined> {
    const path = this.#path(folder, number);
    try {
      return await orNothing(readFile(path, 'utf8'), undefined);
    } catch (error) {
      const { message } = error as Error;
      if (message.includes(path)) throw error;
      throw new Error(`${message} '${path}'`, { cause: error }); // EISDIR does not say which
    }
  }

  /**
   * Makes a file, unless there is one of that number.
   *
   * @param survives `power failure`: what it holds is on the disk when it appears. Otherwise it may be empty then.
   * @returns whether it did.
   */
  async create(folder: string, number: number, content: string, survives: Survival): Promise<boolean> {
    if (!isListed(number)) throw new Error(`there is no number after that of a file in ${folder}`);
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

  /** Makes a file that survives a power failure, in the place of the one of that number if there is one. */
  async replace(folder: string, number: number, content: string): Promise<void> {
    const put = (temporary: string) => rename(temporary, this.#path(folder, number));
    await this.#write(folder, content, 'power failure', put);
  }

  /** Deletes files one after the other; a file that is not there any more is fine. @returns whether any was there. */
  async remove(folder: string, numbers: readonly number[]): Promise<boolean> {
    let hasRemoved = false;
    for (const number of numbers) {
      const path = this.#path(folder, number);
      hasRemoved =
        (await orNothing(
          unlink(path).then(() => true),
          false,
        )) || hasRemoved;
    }
    return hasRemoved;
  }

  /** Deletes what processes that were killed have left behind. */
  async tidy(folder: string, { temporary }: Listing): Promise<void> {
    for (const file of temporary) {
      const path = join(folder, file);
      const found = await orNothing(stat(path), undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
        await orNothing(unlink(path), undefined);
    }
  }

  /** Deletes the folder if it is empty. */
  async removeFolder(folder: string): Promise<void> {
    await rmdir(folder).catch(() => {}); // not empty (any more), or gone
  }

  #path(folder: string, number: number): string {
    return join(folder, `${number}${this.#naming.file}`);
  }

  /** Writes a whole temporary file, and lets it be put in its place. */
  async #write<R>(
    folder: string,
    content: string,
    survives: Survival,
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
        // The first file of the name. Or somebody has just deleted the folder, which was empty; or the temporary file,
        // which was old, because this process has stood still.
        await makeFolder(folder);
      } finally {
        await unlink(temporary).catch(() => {}); // renamed, or never made
      }
    }
  }
}

/** With those above it. Node's own way tries for ever where a file system says ENOENT for what it does not allow. */
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

/** The number after it is to be exact too. */
function isListed(number: number): boolean {
  return number < Number.MAX_SAFE_INTEGER;
}

/** What is not there is nothing; any other error is one. */
async function orNothing<R, N>(promise: Promise<R>, nothing: N): Promise<R | N> {
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
