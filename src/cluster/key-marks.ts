import type { ReportedMember } from '../data/fleet.ts';
import type { KeysMark } from '../data/mark.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import { OptionError } from '../errors.ts';
import { Deferred, ignoreRejection, rejected } from '../time/deferred.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import {
  EMPTY,
  type InvalidationLog,
  lostUpTo,
  type MarksOnKeys,
  marksAfter,
  outOfDateUpTo,
  withMarks,
} from './invalidation-log.ts';
import { ManualRound } from './manual-round.ts';
import { reportedKeys } from './reported-keys.ts';
import type { Reporting } from './store-reports.ts';
import type { PolledName } from './version-poll.ts';

/** Marks that are to be published together, and the promise of those that wait for it. */
interface Waiting {
  readonly marks: KeysMark[];
  readonly published: Deferred<void>;
}

/**
 * The marks on the keys of a cache: publishes those of this instance, and applies those of the others here.
 *
 * They are in an invalidation log, a snapshot of its own under the bare name of the cache, so that a check asks about one name however
 * many keys there are. A mark is added under the lock of that name: no two instances lose each other's.
 */
export class KeyMarks implements PolledName, Reporting, MarksOnKeys {
  /** Each key has its own. */
  readonly roundsEveryMs: undefined;
  readonly #member: ClusterMember;
  readonly #keys: PolledKeys;
  readonly #entry: Entry<InvalidationLog> = new Entry();
  /** The version of the invalidation log whose marks were applied here. */
  #applied = 0;
  #log: InvalidationLog = EMPTY;
  /** The invalidation log was read, or there is none. */
  #isKnown = false;
  #reading: Promise<void> | undefined;
  /** Marks that wait for the round under way, and those that wait for them. */
  #waiting: Waiting | undefined;
  /** Marks of the round under way. */
  #publishing: readonly KeysMark[] = [];
  #round: ManualRound | undefined;
  #isClosed = false;

  /** @param member as which the invalidation log is read and published. */
  constructor(member: ClusterMember, keys: PolledKeys) {
    this.#member = member;
    this.#keys = keys;
    this.#entry.putValue(EMPTY);
  }

  get knownVersion(): number {
    return Math.max(this.#applied, clusterStateOf(this.#entry).rejectedVersion);
  }

  async nameAtBackend(): Promise<string> {
    return this.#member.names.atBackend(this.#entry, this.#member.store?.longestName);
  }

  reported(): ReportedMember {
    return reportedKeys(this.#member.options, this.#keys, this.#applied);
  }

  get willAskStore(): boolean {
    return false;
  }

  /** The version up to which values of a key with these tags are out of date. */
  outOfDateUpTo(id: unknown, tags: readonly string[] | undefined): number {
    return outOfDateUpTo(this.#log, id, tags);
  }

  isBeingMarked(tags: readonly string[] | undefined): boolean {
    const isMeant = (mark: KeysMark): boolean =>
      mark.of === 'all' || (mark.of === 'tag' && tags?.includes(mark.tag) === true);
    return this.#publishing.some(isMeant) || this.#waiting?.marks.some(isMeant) === true;
  }

  /** Reads the invalidation log if it was never read: an instance that starts must adopt nothing that is older than a mark. Never rejects. */
  async known(): Promise<void> {
    if (!this.#isKnown) await this.adoptNewer(undefined, false);
  }

  /** Never rejects. */
  async adoptNewer(version: number = 0, waits: boolean = true): Promise<void> {
    const wasReading = this.#reading !== undefined;
    await this.#readOnce(waits);
    if (wasReading && version > this.knownVersion) await this.#readOnce(waits); // that was answered before
  }

  #readOnce(waits: boolean): Promise<void> {
    this.#reading ??= this.#read(waits).then(
      () => {
        this.#reading = undefined;
      },
      () => {
        this.#reading = undefined; // the next check reports the store
      },
    );
    return this.#reading;
  }

  /**
   * Publishes a mark, which was applied here. Resolves when the store has it; rejects with `LockUnavailableError` or
   * `StoreUnavailableError`. Marks that come while others are being published go together.
   */
  publish(mark: KeysMark): Promise<void> {
    const { lock, options } = this.#member;
    if (lock === undefined) {
      const rule = 'must not be given without a lock';
      const about = { cacheName: options.name };
      return Promise.reject(new OptionError([{ option: 'everywhere', rule, received: true }], about));
    }
    if (this.#isClosed) return rejected(this.#closedError());
    this.#waiting ??= { marks: [], published: new Deferred() };
    this.#waiting.marks.push(mark);
    const { promise } = this.#waiting.published;
    if (this.#round === undefined) this.#publishWaiting();
    return ignoreRejection(promise);
  }

  /** Ends a publication that waits for its lease, and begins none any more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#round?.giveUp();
    await this.#member.lock?.close();
  }

  #closedError(): Error {
    return closedError(this.#member.options.name, undefined, 'was closed before the mark was published');
  }

  #publishWaiting(): void {
    const { marks, published } = this.#waiting as Waiting;
    if (this.#isClosed) {
      this.#waiting = undefined;
      published.reject(this.#closedError());
      return;
    }
    const round = new ManualRound(this.#member, this.#entry, 'due', async (token) => {
      this.#waiting = undefined; // later ones are not part of this invalidation log
      this.#publishing = marks;
      await this.#read(true);
      this.#put(withMarks(this.#log, marks, token));
    });
    this.#round = round;
    const over = (): void => {
      if (this.#waiting?.published === published) this.#waiting = undefined;
      this.#publishing = [];
      this.#round = undefined;
      if (this.#waiting !== undefined) this.#publishWaiting();
    };
    round.shared.then(
      () => {
        this.#applied = Math.max(this.#applied, clusterStateOf(this.#entry).held.version);
        over();
        published.resolve();
      },
      (error) => {
        over();
        published.reject(error);
      },
    );
  }

  /** Reads the invalidation log, and applies its marks that are new here. Rejects with `StoreUnavailableError`. */
  async #read(waits: boolean): Promise<void> {
    const snapshot = await this.#member.store?.present(this.#entry, waits);
    this.#isKnown = true;
    const { clock } = this.#member.options;
    const version = snapshot?.version ?? clusterStateOf(this.#entry).rejectedVersion;
    if (version <= this.#applied) return;
    const log = snapshot === undefined ? lostUpTo(this.#log, version) : (snapshot.value as InvalidationLog);
    const marks = marksAfter(log, this.#applied);
    this.#put(log);
    this.#applied = version;
    for (const { mark, upTo } of marks)
      this.#keys.apply(mark, upTo, snapshot?.writtenAt ?? clock.monotonic());
  }

  #put(log: InvalidationLog): void {
    this.#log = log;
    this.#entry.putValue(log);
    this.#member.timing.renewed(this.#entry);
  }
}
