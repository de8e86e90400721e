import type { CacheStatus } from '../cache/cache-status.ts';
import type { RefreshingCache } from '../cache/refreshing-cache.ts';
import type { Difference } from '../data/difference.ts';
import type { LockLike, StoreLike } from '../engine/coordinator.ts';
import type { ControlledEngine } from '../engine/member-control.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { JoiningMember } from '../options/group-handle.ts';
import type { PeriodicExecutor } from '../value/periodic-executor.ts';
import type { RefreshingValue } from '../value/refreshing-value.ts';

/** One problem of a member. */
export interface HealthProblem {
  /** The `name` of the member. */
  readonly name: string;
  /** The key, where the problem concerns one key of a `RefreshingCache`. */
  readonly key?: unknown;
  /**
   * - `not-loaded`: `required`, and there was no success yet;
   * - `too-stale`: older than `maxStaleness`. Fatal if its reload fails too, or
   *   may not start; else the next read reloads it;
   * - `failing`: the last execution failed; the old value is still served. Of a cache: the last loads of some keys failed;
   * - `refused`: the same, because `schema` or `accept` refused what was loaded;
   * - `backup`: the value that is served, or a part of it, was not made by the first source of `firstOf`: the sources before have failed. Of a
   *   cache: that of some keys. The next answer of the first source ends it;
   * - `backend-down`: its lock or its store could not be asked the last time; `whenBackendDown` decides
   *   whether loads go on meanwhile;
   * - `checks-failing`: changes of other instances are not known here: see `propagateWithin`;
   * - `hanging`: a load without a deadline has been under way for 30 s, in a place of `concurrency`, which `cancel()` frees;
   * - `paused`, `closed`: it starts no loads.
   */
  readonly kind:
    | 'not-loaded'
    | 'too-stale'
    | 'failing'
    | 'refused'
    | 'backup'
    | 'backend-down'
    | 'checks-failing'
    | 'hanging'
    | 'paused'
    | 'closed';
  /** Reads fail because of it, and will go on failing. */
  readonly isFatal: boolean;
  /** One line for people. */
  readonly message: string;
  /** The error of the last execution, if that failed. */
  readonly error?: Error | undefined;
  /** Of `backup`: since when, in epoch milliseconds; of several keys since the first. Not present: not known. */
  readonly since?: number | undefined;
}

interface AnyMember {
  /** Its option `name`, unique in the group. */
  readonly name: string;
  /** Its own, or that of the group; `undefined`: none. */
  /** The lock and the store that it uses, as they were given to it or to the group; `undefined`: none. */
  readonly lock: LockLike | undefined;
  readonly store: StoreLike | undefined;
  /** As in `inspect({ values: false })` of the group: for tools that look at a large group one by one. Starts nothing. */
  inspect(): ExecutionStatus | CacheStatus;
  /** As in `health({ start: false })` of the group: a backend that is down first, then those that are fatal. */
  health(): readonly HealthProblem[];
}

/** A member of a group, for tools that act on any group, such as a console: see `RefreshGroup.members`. */
export type GroupMember = AnyMember &
  (
    | {
        readonly kind: 'value';
        readonly member: RefreshingValue<unknown>;
        /** The changes from one version in the store to another, for the console. @internal */
        compare(before: number, after: number): Promise<Difference>;
      }
    | { readonly kind: 'cache'; readonly member: RefreshingCache<unknown, unknown> }
    | { readonly kind: 'executor'; readonly member: PeriodicExecutor }
  );

/** The kinds of members, by those of their options. */
const KINDS: { readonly [kind in ResolvedOptions['kind']]: GroupMember['kind'] } = {
  value: 'value',
  key: 'cache',
  task: 'executor',
};

/** The problems of one member: backends that are down, then what may follow from that, what makes reads fail first. */
export function causesFirst(
  backends: readonly HealthProblem[],
  others: readonly HealthProblem[],
): HealthProblem[] {
  return [
    ...backends,
    ...others.filter(({ isFatal }) => isFatal),
    ...others.filter(({ isFatal }) => !isFatal),
  ];
}

/** A member, as its group sees it. */
export abstract class Member {
  readonly name: string;
  /** As the group returns it to tools. */
  readonly public: GroupMember;
  readonly engine: ControlledEngine &
    Pick<MemberEngine<unknown>, 'register' | 'close' | 'events' | 'unlessOwn' | 'options' | 'reschedule'>;
  readonly status: (hasValues: boolean) => unknown;
  readonly isRequired: boolean;

  constructor(
    member: Pick<JoiningMember<never>, 'self' | 'options'> & Pick<Member, 'engine' | 'status'>,
    isRequired: boolean,
  ) {
    const { self, options, engine, status } = member;
    const { kind, name, lock, store } = options;
    this.name = name;
    this.isRequired = isRequired;
    this.engine = engine;
    this.status = status;
    const methods = {
      inspect: () => status(false),
      compare: (before: number, after: number) => this.compare?.(before, after),
      health: () => this.health(),
    };
    this.public = Object.assign(Object.create(methods), {
      kind: KINDS[kind],
      name,
      lock,
      store,
      member: self,
    });
  }

  abstract health(): HealthProblem[];

  /** Of one entry: two of its versions in the store. */
  compare?(before: number, after: number): Promise<Difference>;

  /** Each executes what has had no success yet, and resolves with its success: the member, or a required key. */
  abstract firstLoads(signal: AbortSignal): readonly (() => Promise<void>)[];
}
