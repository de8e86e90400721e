/// <reference lib="esnext.disposable" preserve="true" />

import type { CacheOptions, CheckedCacheOptions, KeyOfObjects } from '../cache/cache-options.ts';
import type { CacheStatus } from '../cache/cache-status.ts';
import { RefreshingCache } from '../cache/refreshing-cache.ts';
import { type CloseReport, closeReport } from '../data/close-report.ts';
import type { Fleet } from '../data/fleet.ts';
import { DueQueue, PASS_CONCURRENCY } from '../due/due-queue.ts';
import type { GroupSlot, Refreshable } from '../due/refreshable.ts';
import type { Backend } from '../engine/backend.ts';
import type { FitsPrevious } from '../engine/load-context.ts';
import { LoadLimit } from '../engine/load-limit.ts';
import { closedError } from '../engine/read-errors.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { TypedByLoad } from '../guard/guard-options.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { cutOffLine } from '../observe/cut-off-line.ts';
import type { EventFilter, EventOf, TicklessEvent } from '../observe/events.ts';
import { Listeners } from '../observe/listeners.ts';
import { OutageLog } from '../observe/outage-log.ts';
import { passToPlatform, type WaitUntil } from '../observe/wait-until.ts';
import { checked, durationArgument, namesArgument, optionsArgument, ownOptions } from '../option-checks.ts';
import { defaults } from '../options/defaults.ts';
import type { GroupHandle, GroupLike, KeyedMember, SingleMember } from '../options/group-handle.ts';
import { resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { ValueSharedOptions } from '../options/shared-options.ts';
import { Deferred, voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { asMethod, type CloseOptions, closeTimeoutMs } from '../value/lifecycle.ts';
import { PeriodicExecutor, type Task, type TaskOptions } from '../value/periodic-executor.ts';
import { type CheckedValueOptions, RefreshingValue, type ValueOptions } from '../value/refreshing-value.ts';
import { type InspectOptions, inspectsParts } from '../value/value-status.ts';
import { CacheMember } from './cache-member.ts';
import { EntryMember } from './entry-member.ts';
import { fleetOfMembers } from './group-fleet.ts';
import type { GroupMember, HealthProblem, Member } from './member.ts';
import { allReady, notReadyLine } from './readiness.ts';

/** The options that members of a group take where they have none of their own. */
type GroupDefaults = Partial<Omit<ValueSharedOptions, 'name' | 'group' | 'backend'>> & {
  readonly backend?: Backend | false | undefined;
};

/** The options of {@link RefreshGroup}; none is required. */
export interface GroupOptions extends GroupDefaults {
  /** The name of the group, in its own errors. @default 'group' */
  readonly name?: string | undefined;
  /**
   * A read of any member starts other members that are due, as {@link RefreshGroup.requestStart} does. A fresh read
   * costs one comparison more, however many members there are. @default true
   */
  readonly piggyback?: boolean | undefined;
  /**
   * The highest number of calls of loads and tasks of all members under way at a time, whatever has started them. Further ones wait in
   * line, within the deadline of their execution. Members with different sources share the line: where one source hangs, the others
   * wait for its deadline too. A load that reads another member of the group needs a place for both. A cache has a limit of its own
   * besides. A whole number from 1; `Infinity`: only the limits of the caches.
   * @default 4 for the loads that `requestStart` and `piggyback` start; none for those of reads and `refresh`
   */
  readonly concurrency?: number | undefined;
}

/** The state of a group at one instant. A copy: it does not change. */
export interface GroupStatus extends JsonStatus {
  readonly name: string;
  /** Loads under way that the group has started. */
  readonly running: number;
  /** After `close()`. */
  readonly closed: boolean;
  /** The state of each member, in the order in which they were made: of a cache as a whole. */
  readonly members: readonly (ExecutionStatus | CacheStatus)[];
}

/** The result of {@link RefreshGroup.health} and {@link RefreshGroup.ready}. */
export interface Health extends JsonStatus {
  /** No problem is fatal: reads are served. */
  readonly ok: boolean;
  /**
   * All problems of now, members with fatal ones first; of each member a backend that is down first, as the cause of what
   * follows.
   */
  readonly problems: readonly HealthProblem[];
}

/** The options of `ready`. */
export interface ReadyOptions {
  /** How long to wait. 0: not at all; `Infinity`: until all are there. @default 30 seconds */
  readonly timeout?: DurationLike | undefined;
}

/** The options of `health`. */
export interface HealthOptions {
  /** Starts what is due, once the problems are known. @default true */
  readonly start?: boolean | undefined;
}

/** The options of `requestStart` of a group. */
export interface GroupStartOptions {
  /** Receives a promise of the end of all loads that this call starts, also of those that wait for their turn. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** The options that are the group's own, and not defaults of its members. */
const GROUP_ONLY = ['piggyback', 'concurrency'] as const;

/**
 * A service's values, caches and executors as one: shared defaults, one queue of due members, one shutdown.
 *
 * ```ts
 * import { RefreshGroup } from 'tickless';
 *
 * const group = new RefreshGroup({ schedule: { minutes: 10 } });
 * const rates = group.value({ name: 'rates', load: async () => new Map([['USD', 1.08]]), required: true });
 * const cities = group.cache({ name: 'cities', load: async (code: string) => `City of ${code}` });
 *
 * console.log((await group.ready({ timeout: { seconds: 20 } })).ok); // true
 * console.log(await cities.get('1012'), rates.current.get('USD')); // City of 1012 1.08
 * console.log(group.health()); // { ok: true, problems: [] }
 * await group.close();
 * ```
 *
 * A member that is closed by itself leaves the group, and its name is free again. Nothing runs between reads here either.
 * The due times of the members are in a heap: a read compares the clock with the soonest one, and a request costs as much
 * as there are due members.
 */
export class RefreshGroup implements GroupLike {
  /** For members only. @internal */
  readonly handle: GroupHandle;
  readonly #options: ResolvedOptions;
  readonly #members: Map<string, Member> = new Map();
  readonly #queue: DueQueue;
  readonly #listeners: Listeners;
  readonly #readiness: OutageLog;
  #closing: Deferred<CloseReport> | undefined;
  /** Ends each `ready()` that waits. */
  readonly #waits: Set<() => void> = new Set();

  /** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
  constructor(options: GroupOptions = {}) {
    optionsArgument('group', options);
    const given = ownOptions(options ?? {});
    const { name = 'group', piggyback = true, concurrency, ...others } = given;
    const shared = ownOptions(others);
    const resolved = resolveOptions(
      { ...shared, name },
      {
        kind: 'value',
        givesDefaults: true,
        names: [...VALUE_SHARED.filter((option) => option !== 'group'), ...GROUP_ONLY],
        check: (checks) => {
          checks.oneOf('piggyback', piggyback, [true, false]);
          if (concurrency !== undefined) checks.count('concurrency', concurrency, Infinity);
        },
      },
    );
    this.#options = resolved;
    this.#queue = new DueQueue({
      clock: resolved.clock,
      concurrency: concurrency ?? PASS_CONCURRENCY,
      piggyback,
    });
    this.#listeners = new Listeners(resolved.name, resolved.logger);
    this.#readiness = new OutageLog(resolved.logger, resolved.clock, { recovered: 'ready' });
    this.handle = {
      defaults: shared,
      listeners: this.#listeners,
      loadLimit:
        concurrency === undefined || concurrency === Infinity
          ? undefined
          : new LoadLimit(concurrency, resolved.clock),
      addSingle: (member) => this.#addSingle(member),
      addKeyed: (member) => this.#addKeyed(member),
    };
  }

  /** A {@link RefreshingValue} of this group. @throws {TicklessError} `OPTION` as its constructor does, and for a name that is taken. @throws {TicklessError} `CLOSED` after `close`. */
  value<T, Previous = T>(
    options: ValueOptions<T, Previous> & FitsPrevious<T, Previous> & TypedByLoad<NoInfer<T>>,
  ): RefreshingValue<T, Previous>;
  value<T, Previous = T>(
    options: CheckedValueOptions<T, Previous> & FitsPrevious<T, Previous>,
  ): RefreshingValue<T, Previous>;
  value<T, Previous = T>(
    options: ValueOptions<T, Previous> & FitsPrevious<T, Previous>,
  ): RefreshingValue<T, Previous>;
  value<T, Previous = T>(
    options: ValueOptions<T, Previous> & FitsPrevious<T, Previous>,
  ): RefreshingValue<T, Previous> {
    return new RefreshingValue({ ...options, group: asMethod(this) });
  }

  /** A {@link RefreshingCache} of this group. @throws {TicklessError} `OPTION` as its constructor does, and for a name that is taken. @throws {TicklessError} `CLOSED` after `close`. */
  cache<K, V, Previous = V>(
    options: CacheOptions<K, V, Previous> &
      KeyOfObjects<K> &
      FitsPrevious<V, Previous> &
      TypedByLoad<NoInfer<V>>,
  ): RefreshingCache<K, V, Previous>;
  cache<K, V, Previous = V>(
    options: CheckedCacheOptions<K, V, Previous> & KeyOfObjects<K> & FitsPrevious<V, Previous>,
  ): RefreshingCache<K, V, Previous>;
  cache<K, V, Previous = V>(
    options: CacheOptions<K, V, Previous> & KeyOfObjects<K> & FitsPrevious<V, Previous>,
  ): RefreshingCache<K, V, Previous>;
  cache<K, V, Previous = V>(
    options: CacheOptions<K, V, Previous> & KeyOfObjects<K> & FitsPrevious<V, Previous>,
  ): RefreshingCache<K, V, Previous> {
    return new RefreshingCache({ ...options, group: asMethod(this) });
  }

  /** A {@link PeriodicExecutor} of this group. @throws {TicklessError} `OPTION` as its constructor does, and for a name that is taken. @throws {TicklessError} `CLOSED` after `close`. */
  executor(task: Task, options: TaskOptions): PeriodicExecutor {
    return new PeriodicExecutor(task, { ...options, group: asMethod(this) });
  }

  /**
   * Starts the members that are due, behind the caller: soonest first, four loads at a time, or `concurrency`; as one ends
   * the next begins, until all are started that were due at the call. A member that was never loaded is due; of a cache,
   * the due ones among the keys that it has. The cost grows with the number of due members only. Starts nothing after
   * {@link close}.
   *
   * @throws {TicklessError} `OPTION` for an unknown option.
   */
  requestStart(options?: GroupStartOptions): void {
    namesArgument(this.#options.name, options, ['waitUntil']);
    const waitUntil = ownOptions(options)?.waitUntil;
    if (waitUntil === undefined) {
      this.#queue.request();
      return;
    }
    const end = this.#queue.requestAndWait();
    passToPlatform(waitUntil, end, this.#options.logger);
  }

  /**
   * Waits until all `required` members have had their first success. A member that fails is tried again after its
   * cool-down. All are loaded at once, within `concurrency` where that is given. The report names the members that are
   * missing at the deadline, and why, as one log line does; their loads go on. Rejects with `OPTION` at once where a load of a member calls it
   * before its first `await`: it would wait for itself; so does {@link close}, which closes all the same.
   *
   * @throws {TicklessError} `OPTION` when `timeout` is not a duration of 0 or more.
   */
  ready(options?: ReadyOptions): Promise<Health> {
    const { name, clock } = this.#options;
    namesArgument(name, options, ['timeout']);
    const timeoutMs = durationArgument(
      name,
      'timeout',
      ownOptions(options)?.timeout ?? defaults.readyTimeout,
    );
    const required = this.#all.filter(({ isRequired }) => isRequired);
    if (this.#closing !== undefined) return Promise.resolve(this.#healthOf(required));
    const { promise, end } = allReady(required, clock, timeoutMs);
    this.#waits.add(end);
    const ready = promise.then(() => {
      this.#waits.delete(end);
      const health = this.#healthOf(required);
      this.#logReadiness(health, required, timeoutMs);
      return health;
    });
    return this.#unlessOwn(ready);
  }

  /**
   * Whether reads can be served, and all problems of the members. For a readiness endpoint: `ok` is false only when reads
   * fail, and will go on failing. Failing reloads of values within `maxStaleness` are reported as problems, but do
   * not make `ok` false. A strict endpoint checks `problems.length`.
   *
   * It counts as a request, so that probes keep a service without traffic fresh: it reports what it finds, and then starts
   * what is due, as {@link requestStart} does. With `{ start: false }` it only reports. {@link inspect} starts nothing.
   *
   * @throws {TicklessError} `OPTION` for an unknown option.
   */
  health(options?: HealthOptions): Health {
    namesArgument(this.#options.name, options, ['start']);
    const health = this.#healthOf(this.#all);
    if (ownOptions(options)?.start !== false) this.#queue.request();
    return health;
  }

  /**
   * The state of the group and its members, with their values; `{ values: false }` leaves these out, and
   * `{ members: false }` all of them: each of `members()` has its own `inspect`. Starts nothing.
   *
   * @throws {TicklessError} `OPTION` for an unknown option.
   */
  inspect(options?: InspectOptions & { readonly members?: boolean | undefined }): GroupStatus {
    const { values, members } = inspectsParts(this.#options.name, options, ['values', 'members']);
    return withJson({
      name: this.#options.name,
      running: this.#queue.running,
      closed: this.#closing !== undefined,
      members: (members ? this.#all : []).map(
        (member) => member.status(values) as GroupStatus['members'][number],
      ),
    });
  }

  /**
   * The members with their backends, in the order in which they were made: for tools that act on any group, such as a
   * console. A copy.
   */
  members(): readonly GroupMember[] {
    return this.#all.map((member) => member.public);
  }

  /**
   * The instances that have members of this group, and each of these members on all of them, by the reports that instances
   * leave in the stores: as `store.fleet()`, of all stores that members use. It asks each store once. Members without a
   * store are not in it.
   *
   * A store that does not answer is named in `unanswered`, with its members. Rejects with `BACKEND_DOWN` where none answers.
   */
  fleet(): Promise<Fleet> {
    return fleetOfMembers(this.#all);
  }

  /**
   * Calls `listener` at each event of that type of all members, `'*'` at each event, also of members that are made later: as
   * `on` of a member, after its own listeners. An event has the `name` of its member. An outage of a lock or a store that
   * several members use is reported once, with the name of the first that finds it. The group forgets its listeners when
   * all members are closed.
   *
   * @returns the function that unsubscribes this listener.
   * @throws {TicklessError} `OPTION` for an unknown type, and when the listener is not a function.
   */
  on<E extends EventFilter>(type: E, listener: (event: EventOf<E>) => void): () => void {
    return this.#listeners.on(type, listener as (event: TicklessEvent) => void);
  }

  /**
   * Makes the names of all members known at the backends of their locks, as `register()` of each: those that have not run yet are in
   * the list of locks, with the state `registered`. Call it once the members are made. All are tried; rejects with the first
   * `BACKEND_DOWN`.
   */
  async register(): Promise<void> {
    const ended = await Promise.allSettled(this.#all.map(({ engine }) => engine.register()));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  /**
   * Closes all members: they start no more loads; running loads are awaited, and aborted when `timeout` has passed. Reads
   * are still served the last value. Every call returns the same
   * promise; the options of the first count. Resolves with what was cut off in all members, of which there is one log line. Never rejects.
   *
   * @throws {TicklessError} `OPTION` when `timeout` is not a duration of 0 or more.
   */
  close(options?: CloseOptions): Promise<CloseReport> {
    const timeoutMs = closeTimeoutMs(this.#options.name, options);
    if (this.#closing !== undefined) return this.#unlessOwn(this.#closing.promise);
    const closing = new Deferred<CloseReport>();
    this.#closing = closing; // before listeners run, which may call this again
    for (const end of this.#waits) end();
    this.#queue.close();
    Promise.all(this.#all.map((member) => member.engine.close(timeoutMs, false))).then((reports) => {
      const report = closeReport(...reports);
      const line = cutOffLine(report, timeoutMs);
      if (line !== undefined) this.#options.logger.warn(line);
      this.#listeners.clear();
      closing.resolve(report);
    });
    return this.#unlessOwn(closing.promise);
  }

  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return voided(this.close());
  }

  #addSingle<T>(member: SingleMember<T>): void {
    const owner = new EntryMember(member, (made) => this.#join(made, made));
    member.engine.owner = owner;
    member.engine.setPiggyback(this.#queue.piggyback);
  }

  #addKeyed<V>(member: KeyedMember<V>): void {
    member.joinQueue((keys) => this.#join(new CacheMember(member), keys));
    member.engine.setPiggyback(this.#queue.piggyback);
  }

  #unlessOwn<R>(result: Promise<R>): Promise<R> {
    return this.#all.reduce((whole, { engine }) => engine.unlessOwn(whole), result);
  }

  #join(member: Member, starts: Refreshable): GroupSlot {
    const { name } = this.#options;
    if (this.#closing !== undefined) throw closedError(name);
    const isUnique = !this.#members.has(member.name);
    checked(name, (checks) => checks.that(isUnique, 'name', 'must be unique in the group', member.name));
    this.#members.set(member.name, member);
    const slot = this.#queue.join(starts);
    const leave = (): void => {
      // A closed group still reports that its members are closed.
      if (this.#closing === undefined) this.#members.delete(member.name);
      slot.leave();
    };
    return { ...slot, leave };
  }

  get #all(): Member[] {
    return [...this.#members.values()];
  }

  /** One line where members are missing, at most one a minute, and one when they are there. */
  #logReadiness({ ok, problems }: Health, required: readonly Member[], timeoutMs: number): void {
    if (ok) this.#readiness.succeeded();
    if (ok || this.#closing !== undefined) return;
    const text = (): string => notReadyLine(problems, required.length, timeoutMs);
    if (!this.#readiness.isOpen) this.#logWhenReady(required);
    this.#readiness.failed({ retryAt: this.#options.clock.monotonic(), text, cause: undefined });
  }

  #logWhenReady(required: readonly Member[]): void {
    const check = (): void => {
      if (!this.#healthOf(required).ok) return;
      forget();
      this.#readiness.succeeded();
    };
    const forget = this.#listeners.on('load-ended', check);
  }

  #healthOf(members: readonly Member[]): Health {
    const each = members.map((member) => member.health());
    const isFatal = (problems: readonly HealthProblem[]): boolean => problems.some((one) => one.isFatal);
    const fatal = each.filter(isFatal);
    const problems = [...fatal, ...each.filter((one) => !isFatal(one))].flat();
    return withJson({ ok: fatal.length === 0, problems });
  }
}
