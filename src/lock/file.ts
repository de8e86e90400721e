import { randomId } from '../cluster/identity.ts';
import type { AcquireRequest, LeaseId } from '../cluster/lock-contract.ts';
import { isPlausibleToken } from '../cluster/plausible.ts';
import {
  hasRestarted,
  isComparable,
  isInstant,
  isMoment,
  MachineClock,
  type Moment,
} from '../files/machine-clock.ts';
import { type Listing, NumberedFiles } from '../files/numbered-files.ts';
import { Sweep, type Visited } from '../files/sweep.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { type Ending, type LockBackend, type LockRow, REPLACED } from './lock-backend.ts';
import {
  acquired,
  type BackendRecord,
  damageOf,
  extended,
  forceReleased,
  released,
  rowOf,
} from './record.ts';

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
  return createLock(new FileLock(options), options, {
    longestName: undefined,
    options: ['directory', 'allowOtherUsers', 'retention'],
  });
}

/** The last states of a name that are kept, so that a paused process can see that it is late. */
const KEPT_COUNT = 16;

/** A state is some hundred bytes long, and its texts. */
const LONGEST_BYTES = 1024 * 1024;

/** How many names `list` reads at a time. */
const READ_CONCURRENCY = 32;

/** A state of a name, as stored in its file. */
interface Written extends Moment {
  /** Makes the contents of each file unique. */
  readonly id: string;
  readonly name: string;
  readonly record: BackendRecord;
}

/** The latest state of a name. */
interface Head {
  readonly number: number;
  readonly text: string;
  /** `undefined`: the file is not in the format of this adapter. */
  readonly written: Written | undefined;
  readonly listing: Listing;
}

type Step = (record: BackendRecord | undefined, now: Moment) => BackendRecord | undefined;

/**
 * The states of a name are files 1, 2, 3…; the one with the highest number is the present state. A step is:
 *
 * 1. Read the present state, number n.
 * 2. Compute the next state, and write it to a temporary file.
 * 3. Link that file to the name n + 1. If n + 1 exists, another process was faster: start again.
 * 4. Check that n still exists. If it does not, other processes have reached n + 17 or later and deleted n and n + 1
 *    before the link: remove the link and start again.
 * 5. Delete the states up to n - 15, the oldest first.
 *
 * So each state follows from the one before it, and a process that is killed leaves at most a temporary file.
 */
class FileLock implements LockBackend {
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock = new MachineClock();
  readonly #retentionMs: number;
  readonly #sweep: Sweep;

  constructor(options: FileLockOptions) {
    const { retention = { days: 7 } } = options ?? ({} as FileLockOptions);
    const checks = new OptionChecks('lock');
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#files = new NumberedFiles('lock', options, {
      folder: 'lock-',
      file: '.json',
      longest: LONGEST_BYTES,
    });
    const folders = async () => (await this.#files.folders()).map(({ folder }) => folder);
    this.#sweep = new Sweep(folders, (folder) => this.#forget(folder), this.#retentionMs);
  }

  async acquire(request: AcquireRequest): Promise<LockRow> {
    const record = await this.#change(request.name, (present, now) => acquired(present, request, now));
    return rowOf(request.name, record as BackendRecord, this.#clock.now());
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return this.#applies(lease.name, (record, { at }) => extended(record, lease, leaseFor, at));
  }

  async release(lease: LeaseId, ending: Ending): Promise<boolean> {
    return this.#applies(lease.name, (record, { at }) => released(record, lease, ending, at));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return this.#applies(name, (record, { at }) => forceReleased(record, token, at));
  }

  async find(name: string): Promise<LockRow | undefined> {
    return this.#row(this.#files.folderOf(name));
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const rows: LockRow[] = [];
    const folders = (await this.#files.folders())
      .filter(({ name }) => name === undefined || name.startsWith(prefix))
      .sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)); // first the folders whose name is only in their file
    const unknown = folders.filter(({ name }) => name === undefined).length;
    for (let i = 0; i < folders.length && rows.length < limit + unknown; i += READ_CONCURRENCY) {
      const found = await Promise.all(
        folders.slice(i, i + READ_CONCURRENCY).map(({ folder }) => this.#row(folder)),
      );
      rows.push(...found.filter((row) => row?.name.startsWith(prefix) === true).map((row) => row as LockRow));
    }
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
  }

  async #row(folder: string): Promise<LockRow | undefined> {
    const written = (await this.#head(folder))?.written;
    const now = this.#clock.now();
    const record = written && recordAt(now, written);
    return record && damageOf(record, now) === undefined ? rowOf(written.name, record, now) : undefined;
  }

  async #applies(name: string, step: Step): Promise<boolean> {
    return (await this.#change(name, step)) !== undefined;
  }

  /** @returns the record after the step; `undefined` if the step does not apply. */
  async #change(name: string, step: Step): Promise<BackendRecord | undefined> {
    const folder = this.#files.folderOf(name);
    for (;;) {
      const head = await this.#head(folder);
      const now = this.#clock.now();
      const present = head?.written && recordAt(now, head.written);
      const next = step(present, now);
      if (next === undefined || next === present) return next;
      if (head === undefined) {
        await this.#files.create(folder, 0, randomId(), 'kill'); // the common start of all processes
        continue;
      }
      const record = await this.#replacing(head, present, next, folder, now);
      if (await this.#append(folder, head, { ...now, id: randomId(), name, record })) return record;
    }
  }

  async #head(folder: string): Promise<Head | undefined> {
    for (;;) {
      const listing = await this.#files.list(folder);
      const number = listing.numbers.at(-1);
      if (number === undefined) return undefined;
      const text = await this.#files.read(folder, number);
      if (text !== undefined) return { number, text, written: parsed(text), listing }; // else deleted meanwhile
    }
  }

  /**
   * If the present state is unreadable or has an implausible token, the token of the next one follows the greatest of the
   * states before it, plus one for each of them.
   */
  async #replacing(
    { number, listing: { numbers } }: Head,
    present: BackendRecord | undefined,
    record: BackendRecord,
    folder: string,
    now: Moment,
  ): Promise<BackendRecord> {
    const damage = present === undefined ? 'file' : damageOf(present, now);
    if (number === 0 || (damage !== 'file' && damage !== 'token')) return record;
    const texts = await Promise.all(numbers.map((one) => this.#files.read(folder, one)));
    const tokens = texts.map((text) => parsed(text)?.record.token);
    const last = Math.max(0, ...tokens.filter((token) => isPlausibleToken(token, now.wall)));
    const token = Math.max(record.token, last + 1 + numbers.length);
    return { ...record, token, lastError: REPLACED + damage };
  }

  async #append(folder: string, { number, text, listing }: Head, written: Written): Promise<boolean> {
    // A power failure ends all leases, and a lost hold costs one load. But tokens have to grow, whatever the clock of
    // the machine shows after it.
    const survives = written.record.state === 'running' ? 'power failure' : 'kill';
    if (!(await this.#files.create(folder, number + 1, JSON.stringify(written), survives))) return false;
    if ((await this.#files.read(folder, number)) !== text) {
      await this.#files.remove(folder, [number + 1]);
      return false;
    }
    const old = listing.numbers.filter((one) => one <= number + 1 - KEPT_COUNT);
    await this.#files.remove(folder, old).catch(() => {}); // no right to delete files of another user
    await this.#files.tidy(folder, listing).catch(() => {});
    this.#sweep.step(written.record.keepFor !== undefined);
    return true;
  }

  /** Deletes the files of a name that has not been used for the retention. */
  async #forget(folder: string): Promise<Visited> {
    const head = await this.#head(folder);
    const now = this.#clock.now();
    if (head?.written === undefined) return this.#files.sweep(folder, await this.#files.list(folder), []);
    const { leaseUntil, notBefore, keepFor = Infinity } = recordAt(now, head.written);
    const unusedFor = now.at - Math.max(leaseUntil, notBefore);
    if (unusedFor < Math.min(this.#retentionMs, keepFor))
      return keepFor < this.#retentionMs ? 'brief' : 'kept';
    return this.#files.sweep(folder, head.listing, head.listing.numbers);
  }
}

/** The record, its instants converted to the present clock. */
function recordAt(now: Moment, then: Written): BackendRecord {
  const { record } = then;
  if (isComparable(then, now)) return record;
  const shift = now.at - Math.max(0, now.wall - then.wall) - then.at;
  const { leaseUntil, notBefore, acquiredAt, finishedAt } = record;
  return {
    ...record,
    leaseUntil: hasRestarted(then, now) ? Math.min(now.at, leaseUntil + shift) : leaseUntil + shift,
    notBefore: notBefore + shift,
    acquiredAt: acquiredAt + shift,
    finishedAt: finishedAt === null ? null : finishedAt + shift,
  };
}

const STATES = ['running', 'done', 'failed', 'abandoned', 'released'];

/** @returns `undefined` if the text is not in the format of this adapter: it was edited, or the disk is faulty. */
function parsed(text: string | undefined): Written | undefined {
  try {
    const written = JSON.parse(String(text));
    const { token, owner, requestId, host, state, tookOver, ...others } = written.record;
    const { leaseUntil, notBefore, acquiredAt, finishedAt, lastError, keepFor } = others;
    const isWhole =
      isMoment(written) &&
      [written.name, owner, requestId, host].every((one) => typeof one === 'string') &&
      Number.isSafeInteger(token) &&
      STATES.includes(state) &&
      typeof tookOver === 'boolean' &&
      [leaseUntil, notBefore, acquiredAt, finishedAt ?? 0, keepFor ?? 0].every(isInstant) &&
      (finishedAt !== null) === (state !== 'running') &&
      (lastError === null || typeof lastError === 'string');
    return isWhole ? written : undefined;
  } catch {
    return undefined;
  }
}
