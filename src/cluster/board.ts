import { inDetachedContext } from '../engine/detached-context.ts';
import { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import { TicklessError } from '../errors.ts';
import { Deferred, ignoreRejection, rejected } from '../time/deferred.ts';
import { showDuration } from '../time/show-duration.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { FoundVersion, MemberStore } from './member-store.ts';
import { isPlausibleToken } from './plausible.ts';
import type { PolledName, Poller } from './version-poll.ts';

/** Changes that are to be published together, and the promise of those that wait for it. */
interface Waiting<C> {
  readonly changes: C[];
  readonly published: Deferred<void>;
}

/**
 * A record of its own that all instances change and follow by checks: the marks on keys, the settings of members on all instances.
 *
 * It is changed without a lock: the board as it is known is changed here, and written in the place of the edition that it was made of.
 * Where another instance was faster, the answer has its edition, which is changed in turn: so no change is lost, and one of the
 * instances always gets on. A change is one command where the board is known and no other instance has changed it, else two.
 * Changes that come while others are being published go together.
 *
 * A text is written before its version is known, and has `THIS_EDITION` in the place of that. As far as instances know the clock of
 * the backend, the version is later than the token of each load that began before the change.
 */
export abstract class Board<T, C> implements PolledName {
  /** As which the store knows it. */
  readonly #entry: Entry<T> = new Entry();
  #board: T;
  /** That of the board; 0: there was none yet. */
  #version = 0;
  /** The version that the store has, as far as is known; 0: none. It is another one where the store was emptied, or has a damaged one. */
  #stored = 0;
  /** It was read, or written. */
  #isKnown = false;
  #reading: Promise<void> | undefined;
  #waiting: Waiting<C> | undefined;
  /** Changes that are being published. */
  #publishing: readonly C[] = [];
  #isClosed = false;

  /** @param empty what there is before the first change. */
  constructor(empty: T) {
    this.#board = empty;
  }

  /** As which it is read; `undefined`: there is no member any longer. */
  protected abstract get member(): ClusterMember | undefined;

  abstract readonly poller: Poller | undefined;

  /** As which a change is published. */
  protected abstract memberFor(change: C): ClusterMember;

  /** The board with these changes, in an edition whose version is not known yet. Pure. */
  protected abstract changed(board: T, changes: readonly C[]): T;

  /** The board as an edition of that version has it. Pure. */
  protected abstract dated(board: T, version: number): T;

  /** The board as it is known, where that of a later version can't be read. Pure. */
  protected abstract without(board: T, version: number): T;

  /**
   * The board of another instance has taken the place of the one that was known. Never throws.
   *
   * @param after the version that was known before.
   * @param writtenAt when it was published (monotonic), or a little before.
   */
  protected abstract taken(after: number, writtenAt: number): void;

  /** Other instances can find these changes. Never throws. */
  protected shared(_changes: readonly C[]): void {}

  /** As it is known. */
  protected get board(): T {
    return this.#board;
  }

  /** The version that is known here; 0: none is. */
  get knownVersion(): number {
    return this.#version;
  }

  async nameAtBackend(): Promise<string> {
    const { names, store } = this.member as ClusterMember;
    return names.atBackend(this.#entry, store?.longestName);
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

  /** Rejects with `BACKEND_DOWN`. */
  async #read(member: ClusterMember, waits: boolean): Promise<void> {
    const found = await member.store?.present(this.#entry, waits);
    this.#stored = Math.max(this.#stored, found?.version ?? 0);
    this.#take(found, member);
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
    if (this.#publishing.length === 0) void inDetachedContext(() => this.#publishWaiting());
    return ignoreRejection(promise);
  }

  /** Changes that have not been sent are not published any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects. */
  async #publishWaiting(): Promise<void> {
    while (this.#waiting !== undefined) {
      const { changes, published } = this.#waiting;
      this.#publishing = changes;
      await Promise.resolve(); // those of the same turn go together
      this.#waiting = undefined;
      try {
        await this.#put(changes);
        this.shared(changes);
        published.resolve();
      } catch (error) {
        published.reject(error);
      }
      this.#publishing = [];
    }
  }

  /** Rejects with `BACKEND_DOWN` or `CLOSED`. */
  async #put(changes: readonly C[]): Promise<void> {
    const member = this.memberFor(changes[0] as C);
    const { clock, timeoutMs } = member.options;
    const endAt = clock.monotonic() + timeoutMs;
    for (;;) {
      if (this.#isClosed || this.member === undefined) throw closed(member);
      const next = this.changed(this.#board, changes);
      const answer = await (member.store as MemberStore).replace(this.#entry, next, this.#stored);
      if (answer.kind === 'written') {
        const { version } = answer;
        this.#stored = version;
        this.#isKnown = true;
        // It may be older than one that was read meanwhile, which has these changes too.
        if (version > this.#version) {
          this.#board = this.dated(next, version);
          this.#version = version;
        }
        member.signals?.send(member);
        return;
      }
      this.#stored = answer.present?.version ?? 0;
      this.#take(answer.present, member);
      if (clock.monotonic() >= endAt) throw tooLate(member);
    }
  }

  /** Adopts an edition that is newer than the one that is known. */
  #take(found: FoundVersion | undefined, { options }: ClusterMember): void {
    this.#isKnown = true;
    const after = this.#version;
    if (found === undefined || found.version <= after || !isPlausibleToken(found.version, options.now()))
      return;
    const { version, snapshot } = found;
    this.#version = version;
    this.#board =
      snapshot === undefined ? this.without(this.#board, version) : this.dated(snapshot.value as T, version);
    this.taken(after, snapshot?.writtenAt ?? options.clock.monotonic());
  }
}

function closed({ options }: ClusterMember): Error {
  return closedError(options.name, undefined, 'was closed before the change was published');
}

function tooLate({ options: { name, timeoutMs } }: ClusterMember): TicklessError {
  const text = `the change was not published within ${showDuration(timeoutMs)}: other instances were faster`;
  return new TicklessError('BACKEND_DOWN', text, { member: name });
}
