import { bytesOf } from '../cluster/history.ts';
import { isPlausibleToken } from '../cluster/plausible.ts';
import type {
  InstanceReport,
  Store,
  StoredReport,
  StoredSnapshot,
  StoredVersion,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import { isInstant, isMoment, MachineClock, type Moment, passedSince } from '../files/machine-clock.ts';
import { type Listing, NumberedFiles } from '../files/numbered-files.ts';
import { Sweep, type Visited } from '../files/sweep.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { Semaphore } from '../time/semaphore.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { FileReports } from './file-reports.ts';
import type { StoreBackend } from './store-backend.ts';

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
  return createStore(new FileStore(options), options, {
    longestName: undefined,
    options: ['directory', 'allowOtherUsers', 'retention'],
  });
}

/** A text of half a gigabyte would be too long for the JavaScript engine. */
const LONGEST_BYTES = 256 * 1024 * 1024;

/** First line of a file. The payload follows. */
interface Header extends Moment {
  /** Length of the payload in UTF-16 code units, to detect a truncated file. */
  readonly length: number;
  /** As of `write`. */
  readonly keepFor?: number | undefined;
}

interface Snapshot {
  readonly header: Header;
  readonly payload: string;
}

interface Found extends Snapshot {
  readonly version: number;
}

type Damaged = StoredSnapshot & { readonly damage: string };

/**
 * Each snapshot of a name is a file named after its version. The highest readable version counts; where older versions are
 * kept, the highest one, readable or not: an older one must not take its place.
 */
class FileStore implements StoreBackend {
  readonly takesReports = true;
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock = new MachineClock();
  readonly #retentionMs: number;
  readonly #keepVersions: number;
  readonly #sweep: Sweep;
  readonly #reports: FileReports;
  /** Writes without a token compete for the last version, and all but one begin again. */
  readonly #unfenced: Semaphore = new Semaphore(1);

  constructor(options: FileStoreOptions) {
    const { retention = { days: 7 }, keepVersions = 1 } = options ?? ({} as FileStoreOptions);
    const checks = new OptionChecks('store');
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#keepVersions = keepVersions;
    const kind = { folder: 'snapshot-', file: '.snapshot', longest: LONGEST_BYTES };
    this.#files = new NumberedFiles('store', options, kind);
    this.#reports = new FileReports(options, this.#clock);
    const folders = async () => (await this.#files.folders()).map(({ folder }) => folder);
    this.#sweep = new Sweep(folders, (folder) => this.#forget(folder), this.#retentionMs);
  }

  async read(
    name: string,
    newerThan: number = -1,
    version?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    const found = await this.#read(name, newerThan, version);
    if (report !== undefined) await this.#leave(report);
    return found;
  }

  /** A report that can't be stored is lost. */
  async #leave(report: InstanceReport): Promise<void> {
    await this.#reports.write(report).catch(() => {});
  }

  async #read(
    name: string,
    newerThan: number,
    version: number | undefined,
  ): Promise<StoredSnapshot | undefined> {
    const folder = this.#files.folderOf(name);
    if (version === undefined) return this.#snapshot(await this.#newest(folder, newerThan));
    const { numbers } = await this.#files.list(folder);
    const found = await this.#lastOf(
      folder,
      numbers.filter((number) => number === version && number > newerThan),
    );
    return found === 'gone' ? undefined : this.#snapshot(found);
  }

  async history(name: string): Promise<StoredVersion[]> {
    const folder = this.#files.folderOf(name);
    const { numbers } = await this.#files.list(folder);
    const versions: StoredVersion[] = [];
    for (const number of numbers.toReversed().slice(0, this.#keepVersions)) {
      const found = await this.#lastOf(folder, [number]);
      if (found === undefined || found === 'gone') continue; // a newer version has taken its place
      const { payload: beginning, ...snapshot } = this.#snapshot(found);
      versions.push({ ...snapshot, beginning, bytes: bytesOf(beginning) });
    }
    return versions;
  }

  /** By the names of the files: none is read. */
  async versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    if (report !== undefined) await this.#reports.write(report);
    const versions: number[] = [];
    for (const name of names) {
      const { numbers } = await this.#files.list(this.#files.folderOf(name));
      const candidates = this.#keepVersions > 1 ? numbers.slice(-1) : numbers;
      versions.push(plausible(candidates, this.#clock.now()).at(-1) ?? 0);
    }
    return versions;
  }

  reports(beginning: string): Promise<StoredReport[]> {
    return this.#reports.list(beginning);
  }

  #snapshot<F extends Found | Damaged | undefined>(found: F): StoredSnapshot | (F & undefined);
  #snapshot(found: Found | Damaged | undefined): StoredSnapshot | undefined {
    if (found === undefined || 'damage' in found) return found;
    const { version, payload, header } = found;
    return { version, payload, age: passedSince(header, this.#clock.now()) };
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    const write = (): Promise<WriteAnswer> => this.#write(name, payload, token, rejected, keepFor);
    const answer = await (token === undefined ? this.#unfenced.run(write) : write());
    if (report !== undefined) await this.#leave(report);
    return answer;
  }

  async #write(
    name: string,
    payload: string,
    token: number | undefined,
    rejected: number | undefined,
    keepFor: number | undefined,
  ): Promise<WriteAnswer> {
    const folder = this.#files.folderOf(name);
    for (;;) {
      const listing = await this.#files.list(folder);
      const now = this.#clock.now();
      const last = plausible(listing.numbers, now).at(-1) ?? 0;
      if (token !== undefined && token < last) {
        const newer = await this.#newest(folder, token); // damaged versions do not refuse a write
        const isRefused = newer !== undefined && !('damage' in newer) && newer.version !== rejected;
        if (isRefused) return { kind: 'refused', version: newer.version };
      }
      if (token !== undefined && listing.numbers.includes(token)) {
        const found = await this.#lastOf(folder, [token]);
        const isRepeated = typeof found === 'object' && !('damage' in found) && found.payload === payload;
        if (isRepeated && found.header.keepFor === keepFor) return { kind: 'written', version: token };
      }
      const version = token ?? Math.max(last + 1, Math.floor(now.wall * 1000));
      const header: Header = { ...now, length: payload.length, keepFor };
      const content = `${JSON.stringify(header)}\n${payload}`;
      if (token !== undefined) await this.#files.replace(folder, version, content);
      else if (!(await this.#createLast(folder, version, content))) continue; // another process was faster
      if (rejected !== undefined && rejected > version) await this.#files.remove(folder, [rejected]);
      await this.#tidy(folder, listing, version, keepFor).catch(() => {}); // no right to delete files of another user
      this.#sweep.step(keepFor !== undefined);
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
    const candidates = this.#keepVersions > 1 ? versions.slice(-1) : versions;
    for (const version of plausible(candidates, this.#clock.now()).toReversed()) {
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
    const isLast = plausible(numbers, this.#clock.now()).every((number) => number <= version);
    if (!isLast) await this.#files.remove(folder, [version]);
    return isLast;
  }

  /** Deletes the versions that are not kept beside the one that was written. */
  async #tidy(folder: string, listing: Listing, version: number, keepFor: number | undefined): Promise<void> {
    const older = listing.numbers.filter((number) => number < version);
    const kept = keepFor === undefined && this.#keepVersions > 1 ? await this.#kept(folder, older) : [];
    const newer = this.#keepVersions > 1 ? listing.numbers.filter((number) => number > version) : [];
    const isGone = (number: number): boolean => !kept.includes(number);
    await this.#files.remove(folder, [...older.filter(isGone), ...newer]);
    await this.#files.tidy(folder, listing);
  }

  /** Only the last one may have a `keepFor`: it has none before it, and is not kept itself. */
  async #kept(folder: string, older: readonly number[]): Promise<readonly number[]> {
    const last = await this.#lastOf(folder, older.slice(-1));
    const isBrief = typeof last === 'object' && 'header' in last && last.header.keepFor !== undefined;
    return isBrief ? [] : older.slice(1 - this.#keepVersions);
  }

  /** Deletes the files of a name that has not been written for the retention. */
  async #forget(folder: string): Promise<Visited> {
    const newest = await this.#newest(folder, -1);
    const listing = await this.#files.list(folder);
    let expired: readonly number[] = [];
    if (newest !== undefined && !('damage' in newest)) {
      const { keepFor = Infinity } = newest.header;
      const unusedFor = passedSince(newest.header, this.#clock.now());
      if (unusedFor < Math.min(this.#retentionMs, keepFor))
        return keepFor < this.#retentionMs ? 'brief' : 'kept';
      expired = listing.numbers.filter((number) => number <= newest.version);
    }
    return this.#files.sweep(folder, listing, expired);
  }
}

/** The versions that this machine can have given. */
function plausible(versions: readonly number[], { wall }: Moment): readonly number[] {
  return versions.filter((version) => isPlausibleToken(version, wall));
}

/** @returns `undefined` if the text is not in the format of this adapter: it was edited, or the disk is faulty. */
function parsed(text: string): Snapshot | undefined {
  try {
    const end = text.indexOf('\n');
    const header = JSON.parse(text.slice(0, end));
    const payload = text.slice(end + 1);
    const isWhole = isMoment(header) && header.length === payload.length && isInstant(header.keepFor ?? 0);
    return isWhole ? { header, payload } : undefined;
  } catch {
    return undefined;
  }
}
