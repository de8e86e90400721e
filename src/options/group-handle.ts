import type { GroupSlot, Refreshable } from '../due/refreshable.ts';
import type { Backend, BackendParts } from '../engine/backend.ts';
import type { BackedUp } from '../engine/backups.ts';
import type { LockLike } from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { LoadLimit } from '../engine/load-limit.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { Listeners } from '../observe/listeners.ts';
import type { Logger } from '../observe/logger.ts';

/** A member, as it joins a group. */
export interface JoiningMember<T> {
  /** The value, the cache or the executor itself. */
  readonly self: object;
  readonly options: ResolvedOptions & BackendParts;
  readonly engine: MemberEngine<T>;
  readonly status: (hasValues: boolean) => unknown;
}

/** A value or an executor, as it joins a group. */
export interface SingleMember<T> extends JoiningMember<T> {
  /** `ready()` of the group waits for its first success. */
  readonly isRequired: boolean;
  readonly entry: Entry<T>;
}

/** The first success of any key of a cache. */
export interface FirstSuccess {
  readonly isOver: boolean;
  readonly promise: Promise<void>;
}

/** A cache, as it joins a group. */
export interface KeyedMember<V> extends JoiningMember<V> {
  /** `ready()` of the group waits for it; `undefined`: the cache is not required. */
  readonly required: FirstSuccess | undefined;
  /** Its due keys join a queue. */
  readonly joinQueue: (join: (keys: Refreshable) => GroupSlot) => void;
  /** The entries whose last load failed. */
  readonly failing: () => readonly Entry<V>[];
  /** The keys whose values a backup has made. */
  readonly backups: () => readonly BackedUp[];
}

/** The side of a group that its members see. The group makes their slots. */
export interface GroupHandle {
  /** The options for members that leave them out. */
  readonly defaults: {
    readonly backend?: Backend | false | undefined;
    readonly lock?: Backend | LockLike | undefined;
    readonly logger?: Logger | false | undefined;
  };
  /** Limits the loads of all members together; `undefined`: no limit. */
  readonly loadLimit: LoadLimit | undefined;
  /** Those that listen to all members. */
  readonly listeners: Listeners;
  /** @throws {TicklessError} `OPTION` when the name is taken. @throws {TicklessError} `CLOSED` when the group is closed. */
  addSingle<T>(member: SingleMember<T>): void;
  /** As {@link addSingle}, for a cache. */
  addKeyed<V>(member: KeyedMember<V>): void;
}

/** The value of the option `group`: a `RefreshGroup`. */
export interface GroupLike {
  /** For members only. @internal */
  readonly handle: GroupHandle;
}
