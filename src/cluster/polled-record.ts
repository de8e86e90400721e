import { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import { Deferred, ignoreRejection, rejected } from '../time/deferred.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import { ManualRound } from './manual-round.ts';
import type { PolledName, Poller } from './version-poll.ts';

/** Changes that are to be published together, and the promise of those that wait for it. */
interface Waiting<C> {
  readonly changes: C[];
  readonly published: Deferred<void>;
}

/**
 * A snapshot of its own that instances change in turn and follow by checks: the marks on keys, the settings of members on all
 * instances. It is changed under the lock of its name, so that no two instances lose each other's changes. Changes that come
 * while others are being published go together.
 */
export abstract class PolledRecord<T, C> implements PolledName {
  readonly #entry: Entry<T> = new Entry();
  /** The version that was taken over here. */
  #applied = 0;
  /** It was read, or there is none. */
  #isKnown = false;
  #reading: Promise<void> | undefined;
  /** Changes that wait for the round under way, and those that wait for them. */
  #waiting: Waiting<C> | undefined;
  /** Changes of the round under way. */
  #publishing: readonly C[] = [];
  #round: ManualRound | undefined;
  #isClosed = false;

  /** @param empty what there is before the first change. */
  constructor(empty: T) {
    this.#entry.putValue(empty);
  }

  /** As which it is read; `undefined`: there is no member any longer. */
  protected abstract get member(): ClusterMember | undefined;

  abstract readonly poller: Poller | undefined;

  /** As which a change is published. It has a lock. */
  protected abstract memberFor(change: C): ClusterMember;

  /**
   * Adopts the record of another instance. Never throws.
   *
   * @param record `undefined`: that of this version can't be read.
   * @param after the version that was taken over before.
   * @param writtenAt when it was published (monotonic), or a little before.
   */
  protected abstract take(record: T | undefined, version: number, after: number, writtenAt: number): void;

  /** The record with these changes, of that version. */
  protected abstract changed(changes: readonly C[], version: number): T;

  /** Other instances can find these changes. Never throws. */
  protected shared(_changes: readonly C[], _record: T): void {}

  get knownVersion(): number {
    return Math.max(this.#applied, clusterStateOf(this.#entry).rejectedVersion);
  }

  async nameAtBackend(): Promise<string> {
    const { names, store } = this.member as ClusterMember;
    return names.atBackend(this.#entry, store?.longestName);
  }

  /** The version that was taken over here; 0: none was. */
  protected get applied(): number {
    return this.#applied;
  }

  /** Changes that are being published. */
  protected get unpublished(): readonly C[] {
    return [...this.#publishing, ...(this.#waiting?.changes ?? [])];
  }

  /** Reads it if it was never read. Never rejects. */
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
    const { member } = this;
    if (member === undefined) return Promise.resolve();
    this.#reading ??= this.#read(member, waits).then(
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
   * Publishes a change, which was made here. Resolves when the store has it; rejects with `BACKEND_DOWN`
   * or `CLOSED`.
   */
  publish(change: C): Promise<void> {
    if (this.#isClosed) return rejected(closed(this.memberFor(change)));
    this.#waiting ??= { changes: [], published: new Deferred() };
    this.#waiting.changes.push(change);
    const { promise } = this.#waiting.published;
    if (this.#round === undefined) this.#publishWaiting();
    return ignoreRejection(promise);
  }

  /** Ends a publication that waits for its lease, and begins none any more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.giveUp();
    await this.member?.lock?.close();
  }

  protected giveUp(): void {
    this.#round?.giveUp();
  }

  #publishWaiting(): void {
    const { changes, published } = this.#waiting as Waiting<C>;
    const member = this.memberFor(changes[0] as C);
    if (this.#isClosed) {
      this.#waiting = undefined;
      published.reject(closed(member));
      return;
    }
    let record: T;
    const round = new ManualRound(member, this.#entry, 'due', async (token) => {
      this.#waiting = undefined; // later ones are not part of this version
      this.#publishing = changes;
      await this.#read(member, true);
      record = this.changed(changes, token);
      this.#entry.putValue(record);
      member.timing.renewed(this.#entry);
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
        this.shared(changes, record);
        over();
        published.resolve();
      },
      (error) => {
        over();
        published.reject(error);
      },
    );
  }

  /** Rejects with `BACKEND_DOWN`. */
  async #read(member: ClusterMember, waits: boolean): Promise<void> {
    const snapshot = await member.store?.present(this.#entry, waits);
    this.#isKnown = true;
    const version = snapshot?.version ?? clusterStateOf(this.#entry).rejectedVersion;
    const after = this.#applied;
    if (version <= after) return;
    this.#applied = version;
    const writtenAt = snapshot?.writtenAt ?? member.options.clock.monotonic();
    this.take(snapshot?.value as T | undefined, version, after, writtenAt);
  }
}

function closed({ options }: ClusterMember): Error {
  return closedError(options.name, undefined, 'was closed before the change was published');
}
