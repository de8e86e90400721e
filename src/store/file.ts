import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../cluster/store-contract.ts';
import { isMoment, MachineClock, type Moment, passedSince } from '../files/machine-clock.ts';
import { type Listing, NumberedFiles } from '../files/numbered-files.ts';
import { Sweep } from '../files/sweep.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreEngine, type StoreOptions } from './create-store.ts';

/** The options of {@link fileStore}. */
export interface FileStoreOptions extends StoreOptions {
  /**
   * The directory of the files: a path or a `file:` URL, the same for all processes, on a local disk whose file system
   * has hard links (all common ones except FAT). Created on first use if it is missing. All processes need the rights
   * to read, write and delete in it. A lock may share it.
   */
  readonly directory: string | URL;
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
 * Names may have any length.
 *
 * The machine's time since boot measures the age of a snapshot, so that steps of the wall clock don't change it; after a
 * reboot the wall clock does.
 *
 * ```ts
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { fileStore } from 'tickless/store/file';
 *
 * const store = fileStore({ directory: join(tmpdir(), 'my-service', 'snapshots') });
 * await store.write('rates', '{"EUR":1}');
 * console.log((await store.read('rates'))?.payload); // {"EUR":1}
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function fileStore(options: FileStoreOptions): SnapshotStore {
  return createStore(new FileStore(options), options, {
    longestName: undefined,
    options: ['directory', 'retention'],
  });
}

/** First line of a file. The payload follows. */
interface Header extends Moment {
  /** Length of the payload in UTF-16 code units, to detect a truncated file. */
  readonly length: number;
}

interface Snapshot {
  readonly header: Header;
  readonly payload: string;
}

interface Found extends Snapshot {
  readonly version: number;
}

type Damaged = StoredSnapshot & { readonly damage: string };

/** Each snapshot of a name is a file named after its version; the highest version counts. */
class FileStore implements StoreEngine {
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock = new MachineClock();
  readonly #retentionMs: number;
  readonly #sweep: Sweep;

  constructor(options: FileStoreOptions) {
    const { directory, retention = { days: 7 } } = options ?? ({} as FileStoreOptions);
    const checks = new OptionChecks('store');
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#files = new NumberedFiles('store', directory, { folder: 'snapshot-', file: '.snapshot' });
    const folders = async () => (await this.#files.folders()).map(({ folder }) => folder);
    this.#sweep = new Sweep(folders, (folder) => this.#forget(folder));
  }

  async read(name: string, newerThan: number = -1): Promise<StoredSnapshot | undefined> {
    const newest = await this.#newest(this.#files.folderOf(name), newerThan);
    if (newest === undefined || 'damage' in newest) return newest;
    const { version, payload, header } = newest;
    return { version, payload, age: passedSince(header, this.#clock.now()) };
  }

  async write(name: string, payload: string, token?: number): Promise<WriteAnswer> {
    const folder = this.#files.folderOf(name);
    for (;;) {
      const listing = await this.#files.list(folder);
      const last = listing.numbers.at(-1) ?? 0;
      if (token !== undefined && token < last) {
        const newer = await this.#newest(folder, token); // damaged versions do not refuse a write
        if (newer !== undefined && !('damage' in newer)) return { kind: 'refused', version: newer.version };
      }
      const now = this.#clock.now();
      const version = token ?? Math.max(last + 1, Math.floor(now.wall * 1000));
      const header: Header = { ...now, length: payload.length };
      const content = `${JSON.stringify(header)}\n${payload}`;
      if (token !== undefined) await this.#files.replace(folder, version, content);
      else if (!(await this.#createLast(folder, version, content))) continue; // another process was faster
      await this.#tidy(folder, listing, version).catch(() => {}); // no right to delete files of another user
      return { kind: 'written', version };
    }
  }

  async delete(name: string): Promise<boolean> {
    const folder = this.#files.folderOf(name);
    const { numbers } = await this.#files.list(folder);
    const wasThere = await this.#files.remove(folder, numbers); // the newest last, so that a reader never sees an older one
    await this.#files.removeFolder(folder);
    return wasThere;
  }

  /** The newest readable snapshot; if none is readable, the newest damaged one. */
  async #newest(folder: string, newerThan: number): Promise<Found | Damaged | undefined> {
    for (;;) {
      const { numbers } = await this.#files.list(folder);
      const found = await this.#lastOf(
        folder,
        numbers.filter((number) => number > newerThan),
      );
      if (found !== 'gone') return found;
    }
  }

  /** @returns `gone`: a listed file was deleted, because a newer version exists or the snapshot was deleted. */
  async #lastOf(folder: string, versions: readonly number[]): Promise<Found | Damaged | undefined | 'gone'> {
    for (const version of versions.toReversed()) {
      const text = await this.#files.read(folder, version);
      if (text === undefined) return 'gone';
      const snapshot = parsed(text);
      if (snapshot !== undefined) return { ...snapshot, version };
    }
    const version = versions.at(-1);
    if (version === undefined) return undefined;
    const damage = `its file is damaged: version ${version} in ${folder}`;
    return { version, age: 0, payload: '', damage };
  }

  /** The same version may have been written and deleted by another process before; then a newer version exists. */
  async #createLast(folder: string, version: number, content: string): Promise<boolean> {
    if (!(await this.#files.create(folder, version, content, 'power failure'))) return false;
    const { numbers } = await this.#files.list(folder);
    const isLast = numbers.every((number) => number <= version);
    if (!isLast) await this.#files.remove(folder, [version]);
    return isLast;
  }

  async #tidy(folder: string, listing: Listing, version: number): Promise<void> {
    const older = listing.numbers.filter((number) => number < version);
    await this.#files.remove(folder, older);
    await this.#files.tidy(folder, listing);
    if (this.#retentionMs !== Infinity) this.#sweep.step();
  }

  /** Deletes the files of a name that has not been written for the retention. */
  async #forget(folder: string): Promise<void> {
    const newest = await this.#newest(folder, -1);
    if (newest !== undefined && !('damage' in newest)) {
      if (passedSince(newest.header, this.#clock.now()) < this.#retentionMs) return;
      const { numbers } = await this.#files.list(folder);
      await this.#files.remove(
        folder,
        numbers.filter((number) => number <= newest.version),
      );
    }
    await this.#files.tidy(folder, await this.#files.list(folder));
    await this.#files.removeFolder(folder);
  }
}

/** @returns `undefined` if the text is not in the format of this adapter: it was edited, or the disk is faulty. */
function parsed(text: string): Snapshot | undefined {
  try {
    const end = text.indexOf('\n');
    const header = JSON.parse(text.slice(0, end));
    const payload = text.slice(end + 1);
    return isMoment(header) && header.length === payload.length ? { header, payload } : undefined;
  } catch {
    return undefined;
  }
}
