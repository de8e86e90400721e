import type { KeysMark, Mark } from '../data/mark.ts';
import type { ClusterStateLike } from '../engine/cluster-state-like.ts';
import type { Entry } from '../engine/entry.ts';
import type { LoadContext } from '../engine/load-context.ts';
import {
  type HeldVersion,
  NO_VERSION,
  sharedVersion,
  type VersionEvent,
  versionAfter,
} from './held-version.ts';
import type { Pin } from './pin.ts';

/** A round as its successor sees it. See `round.ts`. */
export interface RoundUnderWay {
  /** Its lease is released, or has expired. Never rejects. */
  readonly over: Promise<void>;
  /** Its result is in the store, or could not be written, or there is none. Never rejects. */
  readonly published: Promise<void>;
  /** The same of a result that is being written, or waits for that; `undefined`: there is none yet. */
  readonly writing: Promise<void> | undefined;
  /** It holds a lease. */
  readonly isHolder: boolean;
  /** A load runs. */
  readonly isLoading: boolean;
  requireFresh(): void;
  /**
   * True if a check may adopt this version of another instance during this round, because the result of this round will be newer.
   */
  allowsAdoption(version: number): boolean;
  /** Another instance has published that version. Where it is newer than its own result will be, its lease is lost. */
  overtakenBy(version: number): void;
  /** A person has ended its lease on this instance: its result is not published. */
  fenced(): void;
  /** A person of this instance may be about to end the lease of a round before. */
  readonly mayFence: boolean;
  /** The last snapshot in the store, however old; only where a load runs. Never rejects. */
  previous(): Promise<LoadContext['previous']> | undefined;
}

/** A mark that the store has in the place of a snapshot. */
export interface FoundMark {
  readonly mark: Mark;
  readonly version: number;
  /** When it was written (monotonic), or a little before. */
  readonly writtenAt: number;
}

/** A version that is being published. */
export interface Publishing {
  /** `undefined`: the store will count it. */
  readonly version: number | undefined;
  /** It is the value in place. */
  readonly isInPlace: () => boolean;
}

/** The state of an entry in the cluster, as its lock and its store have reported it. */
export class ClusterState implements ClusterStateLike {
  /** The version of the value in place. Only {@link happened} changes it. */
  held: HeldVersion = NO_VERSION;
  /** The highest version that this instance has given up. Only snapshots above it are adopted. */
  adoptAbove: number = 0;
  /** The version of the last mark that is known: older snapshots are out of date, and never adopted. 0: none. */
  mark: number = 0;
  /** The last mark that was found in the store; a load that has read it may have failed since. */
  foundMark: FoundMark | undefined = undefined;
  /** The version of the last snapshot that a round has found, also where a drop has kept it out of place. 0: none. */
  foundVersion: number = 0;
  /** The version of the last snapshot that was rejected; it is not read again. */
  rejectedVersion: number = 0;
  /** The version of the last snapshot that can't be decoded: it refuses no write. 0: none. */
  undecodableVersion: number = 0;
  /** The token of the lease that another instance holds. The next round reads the snapshot with this version first. */
  expectedToken: number | undefined = undefined;
  /** When it was last invalidated here (monotonic): the result of a load that began before does not answer that. */
  invalidatedAt: number = -Infinity;
  /** The result of the round under way, while it is written to the store. */
  publishing: Publishing | undefined = undefined;
  /** The version that is being read from the store; 0: any. `undefined`: it is not read. */
  reading: number | undefined = undefined;
  /** The holder of the lease when the lock was last asked; this instance included. */
  holder: { readonly owner: string; readonly host: string; readonly token: number } | undefined = undefined;
  /** The text of a version that the store has, by its digest, where that is known. */
  text: { readonly version: number; readonly digest: string } | undefined = undefined;
  /** A round has found the value of that version unchanged. */
  #confirmed: { readonly version: number; readonly round: number } | undefined = undefined;
  /** The round under way, or the last one while it publishes and releases its lease. */
  round: RoundUnderWay | undefined = undefined;

  /** Something has happened to the version of the value in place. */
  happened(event: VersionEvent): void {
    // A version that is given up may be adopted again, and none before it.
    if (event.on === 'given up') this.adoptAbove = Math.max(this.adoptAbove, this.held.version - 1);
    if (event.on === 'clock set back') this.adoptAbove = 0;
    this.held = versionAfter(this.held, event);
  }

  /**
   * The token of the last round whose result is known here: the version of the value in place, or that of a round that has confirmed
   * it.
   */
  get newestRound(): number {
    const { version } = this.held;
    return this.#confirmed?.version === version ? Math.max(version, this.#confirmed.round) : version;
  }

  /**
   * A round has found the value of a version unchanged. @param isInPlace it is in place here.
   */
  confirmed(version: number, round: number, isInPlace: boolean): void {
    this.#confirmed = { version, round };
    if (isInPlace) this.happened({ on: 'confirmed', version });
  }

  /** A local version is packed as -1 less the version. */
  get packed(): number {
    const { as, version } = this.held;
    return as === 'published' ? version : -1 - version;
  }

  set packed(packed: number) {
    const isLocal = packed < 0;
    this.held = {
      as: isLocal ? 'local' : 'published',
      version: isLocal ? -1 - packed : packed,
      pin: undefined,
    };
  }

  get isBusy(): boolean {
    return this.round !== undefined;
  }

  get isLoading(): boolean {
    return this.round?.isLoading === true;
  }

  get published(): Promise<void> | undefined {
    return this.round?.published;
  }

  get isAtRest(): boolean {
    return this.expectedToken === undefined && this.held.as !== 'publishing'; // a refused version keeps its place in the order
  }

  /**
   * The version of the value in place, as a report tells it; 0: it has none.
   *
   * @param written the tokens of the writes in the same command: the store has both, or none.
   */
  reported(written: ReadonlySet<number>): number {
    const { version = 0, isInPlace } = this.publishing ?? {};
    if (written.has(version) && isInPlace?.()) return version;
    return sharedVersion(this.held);
  }

  /** The version that the value in place has once its write has arrived, or that is being read. `undefined`: neither, or the version is not known. */
  get takingOver(): number | undefined {
    const { version, isInPlace } = this.publishing ?? {};
    return version !== undefined && isInPlace?.() ? version : this.reading;
  }

  /** A snapshot is looked for that is newer than this: the version in place, or those before it, or a mark. */
  get newest(): number {
    return Math.max(this.held.version, this.mark, this.adoptAbove);
  }

  /**
   * It is older than a version that was published.
   *
   * @param by what that version is.
   * @param at when it was published at the latest (monotonic).
   */
  isBehind(
    { isLoaded, loadedAt }: Entry<unknown>,
    by: KeysMark['mark'],
    version: number,
    at: number,
  ): boolean {
    if (this.held.as === 'local') return !isLoaded || loadedAt < at;
    // A mark that is known leaves the value in place until a load has ended: only what is newer itself escapes a drop.
    const newest = by === 'dropped' && isLoaded ? this.held.version : this.newest;
    return newest < version;
  }

  /**
   * The value is out of date by a mark of another instance. Unlike after an invalidation here, a snapshot that is newer than
   * the mark is as good as a load, and is looked for first.
   */
  marked(mark: number): void {
    this.mark = Math.max(this.mark, mark);
    this.expectedToken = this.mark + 1;
  }

  /** A mark was found in the store: it is to be applied to the value in place, unless that is replaced by a newer one. */
  found(mark: FoundMark): void {
    if (mark.version > this.mark) this.foundMark = mark;
    this.mark = Math.max(this.mark, mark.version);
  }

  /** The mark in the store that the value in place is older than, and that was not applied to it. */
  get unappliedMark(): FoundMark | undefined {
    return this.foundMark !== undefined && this.foundMark.version > this.held.version
      ? this.foundMark
      : undefined;
  }

  /** Invalidates an entry for another instance. An invalidation that was made here before is not answered by that. */
  invalidatedElsewhere(entry: Entry<unknown>, mark: number, invalidate: () => void): void {
    const awaitsLoad = this.isInvalidatedHere(entry);
    this.stillInvalidated(invalidate);
    this.marked(mark);
    if (awaitsLoad) this.expectedToken = undefined;
  }

  /** Invalidates an entry for the same reason as before. */
  stillInvalidated(invalidate: () => void): void {
    const { invalidatedAt } = this;
    invalidate();
    this.invalidatedAt = invalidatedAt;
  }

  /** An invalidation that was made here has no answer yet: only a load that began after it is one. */
  isInvalidatedHere({ isInvalidated, loadedAt }: Entry<unknown>): boolean {
    return isInvalidated && this.invalidatedAt > -Infinity && this.invalidatedAt >= loadedAt;
  }

  /** The pin that is in force at that instant (monotonic). */
  pinAt(now: number): Pin | undefined {
    const { pin } = this.held;
    return pin !== undefined && now < pin.untilAt ? pin : undefined;
  }

  invalidated(now: number): void {
    this.expectedToken = undefined; // the loads of other instances began before
    this.invalidatedAt = now;
  }

  previous(): Promise<LoadContext['previous']> | undefined {
    return this.round?.previous();
  }

  requireFresh(): void {
    this.round?.requireFresh();
  }
}

/** The state of an entry in the cluster. */
export function clusterStateOf(entry: Entry<unknown>): ClusterState {
  entry.cluster ??= new ClusterState();
  return entry.cluster as ClusterState;
}
