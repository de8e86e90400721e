import type { ValueSharedOptions } from '../options/shared-options.ts';

/** What members of a group share with it: how a read finds out that others are due. */
export interface Door {
  /** A read at or after this instant (monotonic) calls {@link read}. `Infinity`: none. `-Infinity`: each. */
  readonly readsFrom: number;
  read(): void;
}

/** The door of who has no group. */
export const open: Door = { readsFrom: Number.POSITIVE_INFINITY, read: () => {} };

/** The door of who is closed and says so to each read. */
export const shut: Door = { readsFrom: Number.NEGATIVE_INFINITY, read: () => {} };

/** How a member is to start a load. */
export interface StartOfOne {
  /** Only what may be started from no later than that instant (monotonic). */
  readonly until: number;
  /** To be called once it has ended, whatever it brought; not where none was started. */
  readonly ended: () => void;
}

/** What a group starts: a value, an executor, or a cache with its many keys. */
export interface Refreshable {
  /**
   * Starts the load of its own that is due soonest, behind the caller, and plans its {@link GroupSlot} anew.
   *
   * @returns whether one was started, and is under way.
   */
  startNext(start: StartOfOne): boolean;
  /** The process is to live until the loads have ended that are under way. */
  hold(): void;
  /** Looks at what it told by {@link GroupSlot.markUnseen} that it had not looked at. */
  look(): void;
  /** The wall clock was stepped: computes its due times anew and plans its seat. */
  compareClocks(): void;
}

/** The place of a member among those that a group starts. */
export interface GroupSlot {
  readonly door: Door;
  /** How long before it is due a member may be started, in milliseconds. */
  readonly lookAheadMs: number;
  /** The member may be started from that instant on (monotonic); `Infinity`: there is nothing to start. */
  plan(from: number): void;
  /** Something may be due that costs more to look for than a read may cost: it is to {@link Refreshable.look} at a request. */
  markUnseen(): void;
  /** From when on the next round may start what was started in this one: each is started once in a round. */
  afterRound(): number;
  /** Gives the place back. */
  leave(): void;
}

/** One thing about a member that somebody should know. */
export interface HealthProblem {
  /** The `name` of the member. */
  readonly name: string;
  /** The key, where it is about one of a `RefreshingCache`. */
  readonly key?: unknown;
  /**
   * - `not-loaded`: `required`, and there was no success yet;
   * - `too-stale`: older than `maxStaleness`, and `whenTooStale` forbids to serve it. Fatal if its reload fails too, or
   *   may not start; else the next read reloads it;
   * - `failing`: the last execution failed; what was loaded before is still served. Of a cache: the last loads of some keys;
   * - `lock-unavailable`, `store-unavailable`: it could not be asked the last time; `whenLockUnavailable` says what
   *   becomes of loads meanwhile;
   * - `paused`, `closed`: it starts nothing.
   */
  readonly kind:
    | 'not-loaded'
    | 'too-stale'
    | 'failing'
    | 'lock-unavailable'
    | 'store-unavailable'
    | 'paused'
    | 'closed';
  /** Reads fail because of it, and will go on failing. */
  readonly isFatal: boolean;
  /** One line for people. */
  readonly message: string;
  /** The error of the last execution, if that failed. */
  readonly error?: Error | undefined;
}

/** What a group knows of a member. */
export interface Member extends Refreshable {
  readonly name: string;
  readonly isRequired: boolean;
  health(): HealthProblem[];
  status(): unknown;
  close(timeoutMs: number): Promise<void>;
  /** Executes what was never executed with success, and resolves with it. */
  firstLoad(): Promise<void>;
}

/** The side of a group that its members see. */
export interface GroupHandle {
  /** What members take where they were given nothing of their own. */
  readonly defaults: Partial<ValueSharedOptions>;
  /** @throws {OptionError} when the name is taken. @throws {ClosedError} when the group is closed. */
  join(member: Member): GroupSlot;
}

/** What the option `group` takes: a `RefreshGroup`. */
export interface GroupLike {
  /** For members alone. */
  readonly family: GroupHandle;
}
