/// <reference lib="esnext.disposable" preserve="true" />

import type { RefreshingCacheOptions } from '../cache/cache-options.ts';
import { RefreshingCache } from '../cache/refreshing-cache.ts';
import { DueQueue } from '../due/due-queue.ts';
import { closedError } from '../engine/read-errors.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { handOver } from '../observe/call-user-code.ts';
import { OptionChecks } from '../option-checks.ts';
import {
  durationArgument,
  type ResolvedOptions,
  resolveOptions,
  VALUE_SHARED,
} from '../options/resolve-options.ts';
import { defaults, type ValueSharedOptions, type WaitUntil } from '../options/shared-options.ts';
import { Deferred } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import type { CloseOptions } from '../value/lifecycle.ts';
import { PeriodicExecutor, type PeriodicExecutorOptions, type Task } from '../value/periodic-executor.ts';
import { RefreshingValue, type RefreshingValueOptions } from '../value/refreshing-value.ts';
import type { CacheStatus } from './cache-member.ts';
import type { GroupHandle, GroupLike, GroupSlot, HealthProblem, Member } from './membership.ts';
import { allReady } from './readiness.ts';

/** What members of a group take where they are given nothing of their own. */
export type GroupDefaults = Partial<Omit<ValueSharedOptions, 'name' | 'group'>>;

/** The options of {@link RefreshGroup}; none is required. */
export interface RefreshGroupOptions extends GroupDefaults {
  /** The name of the group, in its own errors. @default 'group' */
  readonly name?: string | undefined;
  /**
   * A read of any member starts other members that are due, as {@link RefreshGroup.requestStart} does. A fresh read
   * costs one comparison more, however many members there are. @default false
   */
  readonly piggyback?: boolean | undefined;
  /**
   * What falls due within this time is started too, so that a burst of reads after a long pause finds more of them
   * fresh; never in the first half of its time. Finite; 0: only what is due. @default 0
   */
  readonly lookAhead?: DurationLike | undefined;
  /**
   * How many loads of its own the group runs at a time; loads that reads start for themselves come on top. A whole
   * number from 1; `Infinity`: all. @default 4
   */
  readonly concurrency?: number | undefined;
}

/** The state of a group at one instant. A copy: it does not change. */
export interface GroupStatus {
  readonly name: string;
  /** Loads under way that the group has started. */
  readonly running: number;
  /** After `close()`. */
  readonly closed: boolean;
  /** The state of each member, in the order in which they were made: of a cache as a whole. */
  readonly members: readonly (ExecutionStatus | CacheStatus)[];
}

/** What {@link RefreshGroup.health} and {@link RefreshGroup.ready} answer. */
export interface Health {
  /** No problem is fatal: reads are served. */
  readonly ok: boolean;
  /** What somebody should know, the fatal ones first. */
  readonly problems: readonly HealthProblem[];
}

/** What `ready` takes. */
export interface ReadyOptions {
  /** How long to wait. 0: not at all; `Infinity`: until all are there. @default 30 seconds */
  readonly timeout?: DurationLike | undefined;
}

/** What `requestStart` of a group takes. */
export interface GroupStartOptions {
  /** Is given a promise of the end of all loads that this starts, also of those that wait for their turn. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/**
 * A service's values, caches and executors as one: shared defaults, one place that knows what is due, one shutdown.
 *
 * ```ts
 * import { RefreshGroup } from 'tickless';
 *
 * const group = new RefreshGroup({ schedule: { minutes: 10 }, piggyback: true });
 * const rates = group.value({ name: 'rates', load: async () => new Map([['USD', 1.08]]), required: true });
 * const cities = group.cache({ name: 'cities', load: async (code: string) => `City of ${code}` });
 *
 * console.log((await group.ready({ timeout: { seconds: 20 } })).ok); // true
 * console.log(await cities.get('1012'), rates.current.get('USD')); // City of 1012 1.08
 * console.log(group.health()); // { ok: true, problems: [] }
 * await group.close();
 * ```
 *
 * A member that is closed by itself leaves the group, and its name is free. Nothing runs between reads here either. What is due among the members is known to a heap: to look at it costs a
 * read one comparison, and to start what is due costs as much as there is due.
 */
export class RefreshGroup implements GroupLike {
  /** For members alone. @internal */
  readonly family: GroupHandle;
  readonly #policy: ResolvedOptions;
  readonly #members: Map<string, Member> = new Map();
  readonly #pump: DueQueue;
  #closing: Deferred<void> | undefined;
  /** Ends each `ready()` that waits. */
  readonly #waits: Set<() => void> = new Set();

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(options: RefreshGroupOptions = {}) {
    const given = (typeof options === 'object' ? options : undefined) ?? {};
    const { name = 'group', piggyback = false, ...others } = given;
    const { concurrency = defaults.concurrency, lookAhead = defaults.lookAhead, ...shared } = others;
    let lookAheadMs = 0;
    const policy = resolveOptions(
      { ...shared, name },
      {
        names: VALUE_SHARED.filter((option) => option !== 'group'),
        check: (checks) => {
          checks.oneOf('piggyback', piggyback, [true, false]);
          checks.count('concurrency', concurrency, Infinity);
          lookAheadMs = checks.finiteDurationFromZero('lookAhead', lookAhead);
        },
      },
    );
    this.#policy = policy;
    this.#pump = new DueQueue({ clock: policy.clock, concurrency, lookAheadMs, piggyback });
    this.family = { defaults: shared, join: (member) => this.#join(member) };
  }

  /** A {@link RefreshingValue} of this group. @throws {OptionError} as its constructor does, and for a name that is taken. @throws {ClosedError} after `close`. */
  value<T extends Previous, Previous = T>(
    options: RefreshingValueOptions<T, Previous>,
  ): RefreshingValue<T, Previous> {
    return new RefreshingValue({ ...options, group: this });
  }

  /** A {@link RefreshingCache} of this group. @throws {OptionError} as its constructor does, and for a name that is taken. @throws {ClosedError} after `close`. */
  cache<K, V extends Previous, Previous = V>(
    options: RefreshingCacheOptions<K, V, Previous>,
  ): RefreshingCache<K, V, Previous> {
    return new RefreshingCache({ ...options, group: this });
  }

  /** A {@link PeriodicExecutor} of this group. @throws {OptionError} as its constructor does, and for a name that is taken. @throws {ClosedError} after `close`. */
  executor(task: Task, options: PeriodicExecutorOptions): PeriodicExecutor {
    return new PeriodicExecutor(task, { ...options, group: this });
  }

  /**
   * Starts what is due among the members, behind the caller: soonest first, at most `concurrency` loads at a time; as
   * one ends the next begins, until all is started that was due at the call. What was never loaded is due; of a cache,
   * the keys that it holds are. It costs as much as there is due. Starts nothing after {@link close}; never throws.
   */
  requestStart(options?: GroupStartOptions): void {
    const waitUntil = options?.waitUntil;
    if (waitUntil === undefined) {
      this.#pump.request();
      return;
    }
    const end = this.#pump.requestAndHold();
    handOver(waitUntil, end, this.#policy.logger);
  }

  /**
   * Waits until all members marked `required` have been loaded or executed with success. One that fails is tried
   * again after its cool-down. All are loaded at once, whatever `concurrency` says. Never rejects: the report says which
   * are missing at the deadline, and why; their loads go on.
   *
   * @throws {OptionError} when `timeout` is no duration of 0 or more.
   */
  ready(options?: ReadyOptions): Promise<Health> {
    const { name, clock } = this.#policy;
    const timeoutMs = durationArgument(name, 'timeout', options?.timeout ?? defaults.readyTimeout);
    const required = [...this.#members.values()].filter(({ isRequired }) => isRequired);
    if (this.#closing !== undefined) return Promise.resolve(this.#healthOf(required));
    const { promise, end } = allReady(required, clock, timeoutMs);
    this.#waits.add(end);
    return promise.then(() => {
      this.#waits.delete(end);
      return this.#healthOf(required);
    });
  }

  /**
   * Can reads be served, and what should somebody know? It asks each member. For a readiness endpoint: `ok` turns
   * false only when reads fail, and will go on failing. That reloads fail while the values are within `maxStaleness` is
   * a problem that is told, not a reason to take the instance out of service. Who wants to be strict looks at
   * `problems.length`.
   */
  health(): Health {
    return this.#healthOf([...this.#members.values()]);
  }

  /** The state of the group and its members. Starts nothing. */
  inspect(): GroupStatus {
    return {
      name: this.#policy.name,
      running: this.#pump.running,
      closed: this.#closing !== undefined,
      members: Array.from(
        this.#members.values(),
        (member) => member.status() as GroupStatus['members'][number],
      ),
    };
  }

  /**
   * Closes all members: nothing is started any more, running loads are awaited, and aborted when `timeout` has passed.
   * Reads go on being served with the last value, or throw `ClosedError` where `whenClosed` is `throw`. Every call
   * returns the same promise; the options of the first count. Never rejects.
   *
   * @throws {OptionError} when `timeout` is no duration of 0 or more.
   */
  close(options?: CloseOptions): Promise<void> {
    const timeoutMs = durationArgument(
      this.#policy.name,
      'timeout',
      options?.timeout ?? defaults.closeTimeout,
    );
    if (this.#closing !== undefined) return this.#closing.promise;
    const closing = new Deferred<void>();
    this.#closing = closing; // before anybody is told, who may call this again
    for (const end of this.#waits) end();
    this.#pump.close();
    const members = [...this.#members.values()];
    Promise.all(members.map((member) => member.close(timeoutMs))).then(() => closing.resolve());
    return closing.promise;
  }

  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #join(member: Member): GroupSlot {
    const { name } = this.#policy;
    if (this.#closing !== undefined) throw closedError(name);
    const checks = new OptionChecks(name);
    checks.that(!this.#members.has(member.name), 'name', 'must be the only one in the group', member.name);
    checks.done();
    this.#members.set(member.name, member);
    const seat = this.#pump.join(member);
    const leave = (): void => {
      // After its own close, the group still says that it has been closed.
      if (this.#closing === undefined) this.#members.delete(member.name);
      seat.leave();
    };
    return { ...seat, leave };
  }

  #healthOf(members: readonly Member[]): Health {
    const all = members.flatMap((member) => member.health());
    const [fatal, others] = [all.filter(({ isFatal }) => isFatal), all.filter(({ isFatal }) => !isFatal)];
    return { ok: fatal.length === 0, problems: [...fatal, ...others] };
  }
}
