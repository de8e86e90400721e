// The one seam between the engine and the cluster. Types only: a member without a lock and a store carries no code of
// the cluster. Locks and stores carry that code under `coordinationKey`.

import type { LeaseLeft } from '../data/close-report.ts';
import type { ExecutionStart } from '../data/execution-record.ts';
import type { SharedRuns } from '../data/executor-run.ts';
import type { Fleet, MemberName } from '../data/fleet.ts';
import type { KeyMark, KeysMark, Mark } from '../data/mark.ts';
import type { PublishOrigin } from '../data/origin.ts';
import type { PinStatus } from '../data/pin.ts';
import type { VersionControl } from '../data/version-control.ts';
import type { Events } from '../observe/member-events.ts';
import type { Clock } from '../time/clock.ts';
import type { ControlledMember } from './control.ts';
import type { coordinationKey } from './coordination-key.ts';
import type { Entry } from './entry.ts';
import type { FlightScope } from './load-handle.ts';
import type { LoadResult } from './load-result.ts';
import type { PiggybackTrigger } from './piggyback-trigger.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import type { Timing } from './timing.ts';

/** A lock, as far as the options know it: that of a backend, or one that `asLock` has wrapped. */
export interface LockLike {
  readonly leaseFor: number;
  readonly longestName?: number | undefined;
  readonly [coordinationKey]?: Coordination;
}

/** The store of a backend, as far as the options know it. */
export interface StoreLike {
  readonly longestName?: number | undefined;
  readonly [coordinationKey]?: Coordination;
}

/** The backends and the clock with which a member joins a cluster. */
export interface MemberBackends {
  readonly lock: LockLike | undefined;
  readonly store: StoreLike | undefined;
  readonly clock: Clock;
}

/** The coordination that a lock or a store object carries, shared by all members that use the object. */
export interface Coordination {
  /** Prepares one member. */
  join(backends: MemberBackends): Membership;
}

/** One member of a cluster, before its coordinator exists. */
export interface Membership {
  /** Values may come from a store, also those of keys that are not held here. */
  readonly hasStore: boolean;
  /** The wall clock that calendar schedules follow, in epoch milliseconds. */
  readonly now: () => number;
  coordinator(options: ResolvedOptions, events: Events, timing: Timing): Coordinator;
}

/** Coordinates the executions of one member with those of other instances. */
export interface Coordinator {
  /** Reads of the member start checks of its store with it; `undefined`: there are none. */
  readonly checks: { readonly trigger: PiggybackTrigger } | undefined;
  /** A check that finds a newer version in the store acts on this entry from now on. Without checks nothing happens. */
  follow<T>(polled: PolledEntry<T>): void;
  /** Marks of other instances on keys are applied to these from now on. Without checks nothing happens. */
  followKeys(keys: PolledKeys): void;
  /** Settings that other instances make for all are put into force on this member from now on. Without checks nothing happens. */
  followControl(member: ControlledMember): void;
  /**
   * Publishes what was set here for all instances, which look for it where there are checks. Resolves when the store has it.
   * Rejects with `BACKEND_DOWN`. Only with a lock.
   */
  control(isPaused: boolean): Promise<void>;
  /**
   * Publishes a mark on keys, which was applied here. Resolves when the store has it; at once where no instance looks for it.
   * Rejects with `BACKEND_DOWN`.
   */
  markKeys(mark: KeysMark): Promise<void>;
  /** The same for the key of an entry, whose value or mark has just been published. */
  markKey(entry: Entry<unknown>, mark: KeyMark['mark']): Promise<void>;
  /**
   * The entry is older than a version that another instance has published.
   *
   * @param at upper bound of the publication time (monotonic). A value without a version counts as older if it was set before
   * this instant.
   */
  isBehind(entry: Entry<unknown>, by: KeysMark['mark'], version: number, at: number): boolean;
  /**
   * Invalidates the entry for another instance. Unlike after an invalidation here, its next round looks first for a snapshot
   * that is newer than all marks on the entry, and loads if there is none.
   */
  invalidatedElsewhere(entry: Entry<unknown>, invalidate: () => void): void;
  /** The next round looks first for the snapshot of that version, unless only a load will do. */
  expect(entry: Entry<unknown>, version: number): void;
  /**
   * Puts the version of the entry that the store has into place, which is that one or a newer one, without a load. If a round is
   * running here, waits for it. Never rejects. If the store no longer has the version, nothing changes.
   *
   * @param isBehind the value in place is older.
   */
  takeOver<T>(host: PolledEntry<T>, version: number, isBehind: () => boolean): Promise<void>;
  /** The store, the same for all members that use the object; `undefined`: there is none. */
  readonly store: object | undefined;
  /** The instances that have these members of the store. Only with a store. Rejects with `BACKEND_DOWN`. */
  fleet(of: readonly MemberName[]): Promise<Fleet>;
  /** Makes its lock name known to operators. Rejects with `BACKEND_DOWN`, and for a name that the lock does not accept. */
  register(): Promise<void>;
  /** Those of a task, for all instances; `undefined`: its lock keeps none, or it has no lock. */
  readonly runs: SharedRuns | undefined;
  /** The outcome of an execution is in place. */
  executed(): void;
  /** Begins the cluster's part of an execution. */
  begin<T>(entry: Entry<T>, host: RoundHost): CoordinatedRound<T>;
  /**
   * Publishes what a person has done, as a round of its own: the value in place, which was set by hand, or a mark. Resolves
   * when the store has it, with its version where there is a lock.
   *
   * Rejects with `BACKEND_DOWN` when it was not published; within the `timeout`.
   *
   * @param as a mark; the value with its pin; as due at once; or no longer pinned. @default the value, due when it is due here
   */
  share(entry: Entry<unknown>, as?: ShareRequest): Promise<number | undefined>;
  /** The versions of the entry in the store. */
  versions<T>(entry: Entry<T>, host: VersionHost<T>): VersionControl<T>;
  /** The value of the entry was set by hand, or is an initial one: it has no version. */
  replaced(entry: Entry<unknown>): void;
  /** The version of the value as one number, for a table of many entries. 0: none. */
  packVersion(entry: Entry<unknown>): number;
  /** Gives an entry the version that {@link packVersion} returned. */
  unpackVersion(entry: Entry<unknown>, packed: number): void;
  status(entry: Entry<unknown>): CoordinationStatus;
  /** The pin of the version in place; `undefined`: it is not pinned. */
  pinOf(entry: Entry<unknown>): PinInForce | undefined;
  /** The backends that could not be reached the last time. */
  problems(): readonly CoordinationProblem[];
  /** No round begins any more: gives back leases whose answers are awaited. Within a bounded time; never rejects. */
  close(): Promise<void>;
  /** Those that may still be held at the backend. */
  readonly leases: readonly LeaseLeft[];
}

/** An entry that follows other instances between its loads. */
export interface PolledEntry<T> {
  readonly entry: Entry<T>;
  /** Puts the snapshot of another instance into place, until a load under way has a result; not after `close()`. */
  adopt(remote: RemoteResult<T>): void;
  /** Makes the value in place out of date, not the result of a load under way. @param drop forgets it too. */
  invalidate(drop: boolean): void;
}

/** The keys of a cache, as marks of other instances concern them. */
export interface PolledKeys {
  /**
   * Never throws.
   *
   * @param upTo values up to this version are meant.
   * @param markedAt when it was published at the latest (monotonic), for values without a version.
   */
  apply(mark: KeysMark, upTo: number, markedAt: number): void;
  /** Those whose last load failed. */
  failing(): readonly Pick<Entry<unknown>, 'lastError'>[];
}

/** The member whose versions are controlled. */
export interface VersionHost<T> {
  /**
   * Puts an earlier version into place, with its times; a load under way is aborted. Listeners hear of it when the result is
   * called: with the version under which it is published, or with `undefined` if it could not be.
   *
   * @throws {TicklessError} `CLOSED` after `close()`.
   */
  put(value: T, edition: RemoteResult<T>): (version: number | undefined) => void;
  /** Makes the value out of date here. @param drop forgets it too. */
  invalidate(drop: boolean): void;
  /** @throws {TicklessError} `OPTION` when the load of the entry is on the stack, and would wait for its own end. */
  refuseOwnLoad(): void;
  /** As {@link Coordinator.share}. */
  share(as: ShareRequest): Promise<number | undefined>;
}

/** How a value is published by hand, or what instead of it; an origin: as it was set, for that person. */
export type ShareRequest = Pinned | Unpinned | Marked | PublishOrigin;

/** A mark in place of a value. */
interface Marked {
  readonly mark: Mark;
  /** Only in the place of this version. @default undefined: of any */
  readonly markedOver: number | undefined;
}

/** The value has a pin. */
interface Pinned {
  /** Only in the place of this version. @default undefined: of any */
  readonly pinnedOver: number | undefined;
}

/** The value is due at once, and no longer pinned. */
interface Unpinned {
  readonly unpinned: PublishOrigin;
  /** The version that is pinned. */
  readonly over: number;
}

/** A pin that sets due times and the age limit aside. */
export interface PinInForce {
  /** The age limit that applies again after it, in milliseconds. */
  readonly limitMs: number;
  /** The error of a caller that wants a younger value. */
  error(): Error;
}

/** The execution that a round belongs to, as the round sees it. */
export interface RoundHost extends ExecutionStart {
  /**
   * Call it right before the store is read, and again right before the load starts. Invalidations before the call do not outdate
   * the result.
   */
  began(): void;
  /** Its result was written: the length of the text. */
  published(bytes: number): void;
  /** Ends the flight as failed and aborts its load: the lease is lost. */
  fail(error: Error): void;
  /** Aborts its load with that error: the store has a newer version. Those that wait for it wait for the next one, which looks for that. */
  overtaken(error: Error): void;
  /** Snapshots loaded before this instant (monotonic) may have been invalidated since. */
  validSince(): number;
  /** The round is over. The due time of the entry may have changed since its result was applied. */
  over(): void;
}

/** The cluster's part of one execution. */
export interface CoordinatedRound<T> {
  /** The fencing token of the lease; `undefined`: there is no lease. */
  readonly token: number | undefined;
  /** The size of the result, in bytes of UTF-8; `undefined`: not known yet. */
  readonly bytes: number | undefined;
  /** The result found instead of a load, once {@link run} has resolved. `undefined`: the load ran here. */
  readonly remote: RemoteResult<T> | undefined;
  /** A caller has joined that requires a load begun after its call, and no such load has run. */
  readonly isFreshRequired: boolean;
  /** For people: the step of the cluster that keeps it waiting; `undefined`: none does. */
  readonly waitedFor: string | undefined;
  /** Resolves when the lease is released or has expired. Never rejects. */
  readonly over: Promise<void>;
  /** Runs the tries of the flight if this instance is to load. Resolves with their result. */
  run<R>(tries: () => Promise<R>, scope: FlightScope): Promise<R>;
  /** The result of the load is in place: publishes it and releases the lease as done. The promise is {@link over}. */
  complete(completed: CompletedLoad): Promise<void>;
  /** The result of the load is of no use any more: releases the lease, for any instance. The promise is {@link over}. */
  discard(): Promise<void>;
  /** The execution has failed: releases the lease, so that another instance may try. The promise is {@link over}. */
  fail(error: Error): Promise<void>;
}

/** The result of a load that ran here. */
export interface CompletedLoad {
  readonly isAbsent: boolean;
  /** The value in place is still that of the source. */
  readonly isKept: boolean;
  /** How long it took, in milliseconds. */
  readonly took: number;
}

/** The result of an execution that ran no load of its own: another instance has loaded, or is loading. */
export interface RemoteResult<T> {
  /** The result as a load would return it; `undefined`: there is none yet, the entry is deferred. */
  readonly result: LoadResult<T> | 'absent' | undefined;
  /** Of the snapshot that the result is; `undefined`: there is none. */
  readonly version: number | undefined;
  /** Of a deferral: it holds only as long as no caller waits for the result. */
  readonly endsWhenAwaited: boolean;
  /** A person has pinned it: it ends a load under way. */
  readonly isPinned?: boolean;
  /** A check of the store was faster: the entry has that version already, or a newer one. */
  isInPlace?(entry: Entry<T>): boolean;
  /** Sets the times of the entry. A value is in place already. */
  applyTo(entry: Entry<T>, timing: Timing): void;
}

/** The state of an execution in the cluster, as far as this instance knows: no backend is asked. */
export interface LockStatus {
  /** This instance holds the lease now. */
  readonly isHolder: boolean;
  /** The holder of the lease when the lock was last asked; `undefined`: never asked. */
  readonly holder: { readonly owner: string; readonly host: string } | undefined;
  /** The fencing token of that holder. */
  readonly token: number | undefined;
  /**
   * The version of the snapshot that the value is, published or adopted; without a store the token with which it was
   * loaded. `undefined`: it has none.
   */
  readonly version: number | undefined;
  /** Why the lock could not be asked the last time; `undefined`: it answered. */
  readonly lockError: Error | undefined;
  /** Why the store could not be used the last time; `undefined`: it answered. */
  readonly storeError: Error | undefined;
}

/** The state of an entry in the cluster. */
export interface CoordinationStatus {
  readonly lock: LockStatus;
  readonly pinned: PinStatus | undefined;
  readonly checks: ChecksStatus | undefined;
}

/** How well this instance knows what others have changed: see `propagateWithin`. */
export interface ChecksStatus {
  /** When the store was last asked with an answer, in epoch milliseconds; `undefined`: never. Only reads lead to checks. */
  readonly checkedAt: number | undefined;
  /**
   * Changes of other instances since then are not known here, because checks fail; in epoch milliseconds. `undefined`: the
   * last check had an answer, or there was none yet.
   */
  readonly failingSince: number | undefined;
  /** Why the last check failed; `undefined`: it did not. */
  readonly error: Error | undefined;
}

/** A backend that could not be reached the last time. */
export interface CoordinationProblem {
  readonly what: 'lock' | 'store' | 'checks';
  readonly error: Error;
  /** For how long, in milliseconds, where that is known. */
  readonly forMs?: number | undefined;
}
