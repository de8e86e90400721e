import { fileOf, type Listing } from './file-names.ts';
import type { Durability, NumberedFiles } from './numbered-files.ts';

/** The last states that are kept, so that a paused process can see that it is late. */
const KEPT_COUNT = 16;

/** The present state of a name. */
export interface Head {
  readonly number: number;
  /** `null`: not a file of ours. */
  readonly content: string | null;
  readonly listing: Listing;
}

/**
 * The states of a name are files 0, 1, 2…; the one with the highest number is the present state. Number 0 is the common
 * start of all processes. A step is:
 *
 * 1. Read the present state, number n.
 * 2. Compute the next state, and write it to a temporary file. No two states have the same content.
 * 3. Link that file to the name n + 1. If n + 1 exists, another process was faster: start again.
 * 4. Check that n still exists. If it does not, other processes have reached n + 17 or later and deleted n and n + 1
 *    before the link: remove the link and start again.
 * 5. Delete the states up to n - 15, the oldest first.
 *
 * So each state follows from the one before it, and a process that is killed leaves at most a temporary file.
 */
export class StateChain {
  readonly #files: NumberedFiles;
  readonly #folder: string;

  constructor(files: NumberedFiles, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  async head(): Promise<Head | undefined> {
    for (;;) {
      const listing = await this.#files.list(this.#folder);
      const number = listing.numbers.at(-1);
      if (number === undefined) return undefined;
      const content = await this.#files.read(this.#folder, number);
      if (content !== undefined) return { number, content, listing }; // else deleted meanwhile
    }
  }

  /** The states before the present one that can be read, newest first. */
  async before({ number, listing }: Head): Promise<string[]> {
    const earlier = listing.numbers.filter((one) => one < number).reverse();
    const contents = await Promise.all(earlier.map((one) => this.#files.read(this.#folder, one)));
    return contents.filter((content) => typeof content === 'string');
  }

  /** Creates the common start, unless there is one. */
  async begin(content: string): Promise<void> {
    await this.#files.create(this.#folder, 0, content, 'kill');
  }

  /** @returns false: another process was faster, and nothing has changed. */
  async append(head: Head, content: string, survives: Durability): Promise<boolean> {
    const { number, listing } = head;
    if (!(await this.#files.create(this.#folder, number + 1, content, survives))) return false;
    if ((await this.#files.read(this.#folder, number)) !== head.content) {
      await this.#files.remove(this.#folder, [fileOf(number + 1)]);
      return false;
    }
    const old = listing.numbers.filter((one) => one <= number + 1 - KEPT_COUNT);
    await this.#files.remove(this.#folder, old.map(fileOf)).catch(() => {}); // no right to delete files of another user
    return true;
  }

  /** Deletes all states, the present one last, so that no reader ever sees an older one. */
  async remove(numbers: readonly number[]): Promise<void> {
    await this.#files.remove(this.#folder, numbers.map(fileOf));
    await this.#files.removeFolder(this.#folder);
  }
}
