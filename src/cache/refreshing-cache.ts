import type { Entry } from '../engine/entry.ts';
import type { KeyedOwner } from '../engine/entry-owner.ts';
import type { Load } from '../engine/flight.ts';
import type { FitsPrevious } from '../engine/load-context.ts';
import type { ReadRules } from '../engine/loader.ts';
import { reachesAll, type ScopeOptions } from '../engine/member-control.ts';
import { MemberEngine } from '../engine/member-engine.ts';
import type { ReadOptions } from '../engine/reader.ts';
import { isTicklessError } from '../errors.ts';
import type { TypedByLoad } from '../guard/guard-options.ts';
import { guardedLoad, schemaArgument } from '../guard/guarded-load.ts';
import type { Counters } from '../observe/counters.ts';
import { checked, namesArgument, ownOptions } from '../option-checks.ts';
import { type CoarseClock, coarseClocks } from '../time/coarse-clock.ts';
import { ignoreRejection, ignoreThenable, rejected } from '../time/deferred.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import type { StepWatch } from '../time/step-watch.ts';
import { asMethod, engineOf, Lifecycle } from '../value/lifecycle.ts';
import type { ReadResult } from '../value/read-result.ts';
import {
  type InvalidateOptions,
  invalidateEntry,
  type RefreshOptions,
  refreshArgument,
  type SetOptions,
  setArgument,
  shareValue,
} from '../value/shared-change.ts';
import { checkValue } from '../value/value-argument.ts';
import { type InspectOptions, inspectsValues, type ValueStatus, valueStatus } from '../value/value-status.ts';
import type { CacheOptions, CheckedCacheOptions, KeyContext, KeyOfObjects } from './cache-options.ts';
import { type CacheStatus, cacheStatus } from './cache-status.ts';
import { DueKeys } from './due-keys.ts';
import type { Epochs } from './epochs.ts';
import { FirstKey } from './first-key.ts';
import { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { KeyedReader } from './keyed-reader.ts';
import { ManyKeys, MarkedKeys, markIf, thenMarked } from './many-keys.ts';
import { type GetManyOptions, readMany } from './read-many.ts';
import { type ResolvedCacheOptions, resolveCacheOptions } from './resolve-cache-options.ts';
import type { SlotColumns } from './slot-columns.ts';
import type { SlotTable } from './slot-table.ts';
import { spread } from './spread.ts';
import { type StartKeysOptions, StartRequests } from './start-requests.ts';
import { sizeArgument } from './value-size.ts';

/**
 * Many values by key, each kept fresh when it is read; bounded by lru-cache.
 *
 * ```ts
 * import { absent, RefreshingCache } from 'tickless';
 *
 * const cities = new Map([['1012', 'Amsterdam']]);
 * const cache = new RefreshingCache({
 *   name: 'cities',
 *   load: async (code: string) => cities.get(code) ?? absent(),
 *   schedule: { minutes: 10 },
 *   max: 50_000,
 * });
 * console.log(await cache.get('1012')); // Amsterdam
 * ```
 *
 * The behaviour of a `RefreshingValue` applies to each key: the first read waits, later ones are answered at once, a
 * due reload starts behind the read, once; each key has its own cool-down. Errors and events carry the `key`.
 *
 * Keys that were loaded together are spread, so that they do not fall due together. Between loads there is
 * no timer and no handle.
 */
export class RefreshingCache<K, V, Previous = V> extends Lifecycle<V> {
  readonly #options: ResolvedCacheOptions<K, V>;
  readonly #entries: KeyedEntries<K, V>;
  readonly #many: ManyKeys<K, V>;
  readonly #reader: KeyedReader<K, V>;
  readonly #requests: StartRequests<K, V>;
  // For fresh reads, which take the short way.
  readonly #counters: Counters;
  readonly #rules: ReadRules;
  readonly #table: SlotTable<K, V>;
  readonly #columns: SlotColumns<K, V>;
  readonly #epochs: Epochs;
  readonly #stepWatch: StepWatch;
  readonly #idOf: ((key: K) => KeyId) | undefined;
  readonly #sync: CoarseClock;
  readonly #awaited: CoarseClock;

  /** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
  constructor(
    options: CacheOptions<K, V, Previous> &
      KeyOfObjects<K> &
      FitsPrevious<V, Previous> &
      TypedByLoad<NoInfer<V>>,
  );
  constructor(options: CheckedCacheOptions<K, V, Previous> & KeyOfObjects<K> & FitsPrevious<V, Previous>);
  constructor(options: CacheOptions<K, V, Previous> & KeyOfObjects<K> & FitsPrevious<V, Previous>);
  constructor(options: CacheOptions<K, V, Previous>) {
    const resolved = resolveCacheOptions(options);
    const { member } = resolved;
    const load: Load<V> = (context, entry, abort) => {
      if (context.attempt === 1) entries.validity.loadBegan(entry as KeyedEntry<K, V>);
      return resolved.load(entry as KeyedEntry<K, V>, context as KeyContext<K, V>, abort);
    };
    const engine = new MemberEngine(member, guardedLoad(load, member), (execution) =>
      this.nextExecuteTime(execution),
    );
    const entries = new KeyedEntries(resolved, engine);
    super(engine, (schedule, given) => {
      engine.timing.replaceSchedule(spread(schedule, toMillis(given as DurationLike)));
      this.#many.reschedule();
    });
    engine.owner = engine.keys = entries as KeyedOwner<V>;
    const many = new ManyKeys(entries, engine);
    engine.coordinator?.followKeys(new MarkedKeys(entries, many, engine));
    const dueKeys = new DueKeys(entries, many, engine, resolved.perLoad);
    this.#options = resolved;
    this.#entries = entries;
    this.#many = many;
    this.#reader = new KeyedReader(entries, engine, resolved.perLoad > 1 ? dueKeys : undefined);
    this.#requests = new StartRequests(entries, dueKeys, engine);
    this.#counters = engine.events.counters;
    this.#rules = engine.rules;
    this.#table = entries.table;
    this.#columns = entries.table.columns;
    this.#epochs = entries.validity.epochs;
    this.#stepWatch = entries.validity.stepWatch;
    this.#idOf = resolved.keepsKeys ? resolved.idOf : undefined;
    const { sync, awaited } = coarseClocks(member.clock);
    this.#sync = sync;
    this.#awaited = awaited;
    if (member.group === undefined) return;
    const firstKey = member.isRequired ? new FirstKey<K, V>() : undefined;
    entries.firstKey = firstKey;
    member.group.addKeyed({
      self: this,
      options: member,
      engine,
      required: firstKey,
      joinQueue: (join) => void dueKeys.join(join),
      failing: () => entries.failing(),
      backups: () => entries.backups(),
      status: () => cacheStatus(engine, entries),
    });
  }

  /** How many values it has. */
  get size(): number {
    return this.#table.size;
  }

  /**
   * Reads the value of a key; as `get` of `RefreshingValue`, for each key. Rejects with `ABSENT` when the source
   * has no such key, and with `OPTION` for the key `undefined`. Each call makes a promise of its own.
   *
   * With `loadMany`, keys whose loads begin in the same turn of the event loop come in one call.
   */
  get(key: K, options?: ReadOptions): Promise<V> {
    if (this === undefined) asMethod(this);
    try {
      const slot = this.#use(key);
      if (options !== undefined || slot < 0) this.#counters.reads += 1;
      else if (this.#isFresh(slot, this.#awaited)) return Promise.resolve(this.#columns.value(slot));
      return this.#reader.read(key, options);
    } catch (error) {
      return rejected(error);
    }
  }

  /**
   * Reads the value of a key as {@link get} does, and tells its age, state and version with it, all of one instant, also where the
   * key is evicted in that instant; as `read` of `RefreshingValue`. Rejects as `get` does.
   */
  read(key: K, options?: ReadOptions): Promise<ReadResult<V>> {
    return asMethod(this).#reader.readResult(key, options);
  }

  /**
   * Reads the value of a key as {@link get} does, and resolves with `undefined` where the source has no such key: it loads
   * what is missing, and does not ask again for an absent key before `absentFor` is over.
   *
   * All other failures reject as those of `get` do: a failed load is not an answer.
   */
  getIfPresent(key: K, options?: ReadOptions): Promise<V | undefined> {
    const ifPresent = (error: unknown): undefined => {
      if (!isTicklessError(error, 'ABSENT')) throw error;
    };
    return ignoreRejection(this.get(key, options).catch(ifPresent));
  }

  /**
   * Reads the value of a key without a promise; as `current` of `RefreshingValue`, for each key. With a synchronous
   * `load` (not with `loadMany`, which waits for others) it works on the very first read.
   *
   * @throws {TicklessError} `NOT_LOADED` before the first success of that key; the load has been started if it may.
   * @throws {TicklessError} `ABSENT` when the source has no such key.
   * @throws {TicklessError} `TOO_STALE` beyond `maxStaleness`.
   * @throws {TicklessError} `LOAD_FAILED` or another error of the last reload, with `whenFailing: 'throw'`.
   * @throws {TicklessError} `OPTION` for the key `undefined`.
   */
  current(key: K): V {
    if (this === undefined) asMethod(this);
    const slot = this.#use(key);
    if (slot < 0) this.#counters.reads += 1;
    else if (this.#isFresh(slot, this.#sync)) return this.#columns.value(slot);
    return this.#reader.readNow(key);
  }

  /**
   * Reads the values of several keys: warm keys are served at once, the cold ones are loaded by one `loadMany`.
   * The `Map` has the keys in the order of `keys`; absent keys are missing from it.
   *
   * When the read of a key fails it rejects, once all others have been read: with the error of that key, or with an
   * `AggregateError` of several. With `onError` it resolves without these keys instead.
   */
  getMany(keys: Iterable<K>, options?: GetManyOptions<K>): Promise<Map<K, V>> {
    const { member } = asMethod(this).#options;
    return ignoreRejection(readMany(member, keys, options, (key, ofEach) => this.get(key, ofEach)));
  }

  /**
   * The value of a key as it is, however old; `undefined` while there is none. Starts nothing, and does not count as
   * use.
   *
   * @throws {TicklessError} `OPTION` for the key `undefined`.
   */
  peek(key: K): V | undefined {
    return asMethod(this).#entries.peek(key);
  }

  /** The cache as a whole, with the counts and the last executions of all its keys. Starts nothing. */
  inspect(): CacheStatus;
  /**
   * The value of a key, its age, and the state of its reloads; `undefined` for an unknown key. Starts nothing, and does
   * not count as use.
   *
   * @throws {TicklessError} `OPTION` for the key `undefined`.
   */
  inspect(key: K, options?: InspectOptions): ValueStatus<V> | undefined;
  inspect(...args: [key?: K, options?: InspectOptions]): CacheStatus | ValueStatus<V> | undefined {
    if (args.length === 0) return cacheStatus(engineOf(this), this.#entries);
    const [key, options] = args as [K, InspectOptions?];
    const hasValue = inspectsValues(this.#options.member.name, options);
    if (!this.#entries.has(key)) return undefined;
    return this.#entries.use(key, (entry) => valueStatus(entry, engineOf(this), hasValue));
  }

  /**
   * The keys that have a value, the least recently used first; as they are now.
   *
   * @param options `recentFirst: true`: the most recently used first, without a copy: of a million keys some can be looked at
   * without a pause of the process. Each step finds the next key as they are then: a key that is used meanwhile may come
   * again, and the walk ends early where the key at which it stands is deleted or evicted. @default all of them, copied
   * @throws {TicklessError} `OPTION` for an unknown option.
   */
  keys(options?: { readonly recentFirst?: boolean }): IterableIterator<K> {
    namesArgument(this.#options.member.name, options, ['recentFirst']);
    if (ownOptions(options)?.recentFirst) return this.#table.recentKeys();
    return Array.from(this.#table.slots(), ([id, slot]) => this.#table.key(id, slot)).values();
  }

  /**
   * Loads the value of a key now; as `refresh` of `RefreshingValue`, for each key. Rejects with `ABSENT` when the
   * source has no such key.
   */
  refresh(key: K, options?: RefreshOptions): Promise<V> {
    try {
      const engine = engineOf(this);
      const [isForAll, force] = refreshArgument(engine.options, options);
      return this.#entries.use(key, (entry) => {
        const refreshed = engine.refresh(entry, isForAll, force);
        return isForAll ? thenMarked(engine, entry, refreshed, 'changed') : refreshed;
      });
    } catch (error) {
      return rejected(error);
    }
  }

  /**
   * Marks the value of a key as out of date; as `invalidate` of `RefreshingValue`. A key that was absent is loaded again.
   * Without an argument it marks all keys: the cost does not depend on their number, each is checked at its next read.
   *
   * @throws {TicklessError} `OPTION` for the key `undefined` that is given explicitly: it is a mistake, and would invalidate all keys.
   */
  invalidate(...given: [key?: K, options?: Omit<InvalidateOptions, 'version'>]): Promise<void> {
    const [key, options] = given;
    const engine = engineOf(this);
    const isForAll = reachesAll(engine.options, options, 'drop');
    if (given.length === 0) {
      this.#many.invalidateAll();
      return markIf(isForAll, engine, { of: 'all', mark: 'invalidated' });
    }
    const { drop = false } = ownOptions(options ?? {});
    if (!isForAll && !this.#entries.mayHave(key as K)) return Promise.resolve();
    return this.#entries.use(key as K, (entry) => this.#invalidate(entry, isForAll, drop));
  }

  #invalidate(entry: Entry<V>, isForAll: boolean, drop: boolean): Promise<void> {
    const engine = engineOf(this);
    const marked = ignoreRejection(invalidateEntry(engine, entry, { isForAll, drop, version: undefined }));
    return isForAll ? thenMarked(engine, entry, marked, drop ? 'dropped' : 'invalidated') : marked;
  }

  /**
   * Marks the values as out of date for which the predicate returns true; for keys without a value, which are being loaded
   * for the first time or absent, it gets `undefined`. It is called for every key before any is marked; its errors are thrown.
   *
   * @returns how many were marked.
   * @throws {TicklessError} `OPTION` when it is not a function, or returns a promise.
   */
  invalidateWhere(predicate: (key: K, value: V | undefined) => boolean): number {
    return this.#many.invalidateWhere(predicate);
  }

  /**
   * Marks the values as out of date whose load returned the tag: `loaded(value, { tags: ['nl'] })`. The cost does not depend
   * on their number: each is checked at its next read. A load under way began before: if its value has the tag, reads
   * that come after this call wait for the next load; those that wait already get the value, which is due at once.
   *
   * With a `backend` they are marked on all instances: here at once, on the others within `propagateWithin`. Snapshots with the tag that
   * are older than the mark are adopted by none.
   *
   * @returns a promise, which may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` when it is not a string; nothing was changed then.
   */
  invalidateTag(tag: string, options?: ScopeOptions): Promise<void> {
    const { member } = this.#options;
    checked(member.name, (checks) => checks.that(typeof tag === 'string', 'tag', 'must be a string', tag));
    const isForAll = reachesAll(member, options);
    this.#many.invalidateTag(tag);
    return markIf(isForAll, engineOf(this), { of: 'tag', tag, mark: 'invalidated' });
  }

  /**
   * Sets a value by hand, as if it were loaded just now; as `set` of `RefreshingValue`, for each key. It has no tags.
   *
   * @throws {TicklessError} `OPTION` for the key `undefined`, for the value `undefined`, for a promise, for a value
   * for which `sizeOf` returns no size or one over `maxSize`, and when the `schema` is asynchronous; nothing was changed then.
   * @throws {TicklessError} `REFUSED` when the `schema` refuses it; nothing was changed then.
   */
  set(key: K, value: V, options?: SetOptions): Promise<void> {
    const [isForAll, origin] = setArgument(this.#options.member, options);
    checkValue(this.#options.member, key, value);
    const checked = schemaArgument(this.#options.member, key, value);
    const size = sizeArgument(this.#options, checked, key);
    return this.#entries.use(key, (entry) => {
      const engine = engineOf(this);
      engine.put(entry, checked, () => entry.describe(size, undefined));
      if (!isForAll) return Promise.resolve();
      return thenMarked(engine, entry, shareValue(engine, entry, origin), 'changed');
    });
  }

  /**
   * Forgets the value of a key, and that it was absent. The result of a load under way answers the reads that wait for it
   * already, and is not stored; without such reads the load is aborted. A cool-down stays in force. With a `backend` on all
   * instances, as {@link invalidate} with `drop`.
   *
   * @returns whether there was a value here. The promise may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` for the key `undefined`, and for an unknown option.
   */
  delete(key: K, options?: ScopeOptions): Promise<boolean> {
    const isForAll = reachesAll(this.#options.member, options);
    if (!isForAll && !this.#entries.mayHave(key)) return Promise.resolve(false);
    return this.#entries.use(key, (entry) => {
      const had = entry.isLoaded;
      return ignoreRejection(this.#invalidate(entry, isForAll, true).then(() => had));
    });
  }

  /**
   * Aborts the load of a key under way, which counts as failed; as `cancel` of `RefreshingValue`. A batch goes on for its
   * other keys: the `signal` of `loadMany` is aborted with the last of them.
   *
   * @returns whether a load of the key was under way.
   * @throws {TicklessError} `OPTION` for the key `undefined`.
   */
  cancel(key: K, reason?: unknown): boolean {
    if (!this.#entries.has(key)) return false;
    return this.#entries.use(key, (entry) => engineOf(this).cancel(entry, reason));
  }

  /**
   * {@link delete} of all keys: as {@link invalidateTag}, for all keys.
   *
   * @returns a promise, which may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` for an unknown option; nothing was changed then.
   */
  clear(options?: ScopeOptions): Promise<void> {
    const isForAll = reachesAll(this.#options.member, options);
    this.#many.clear();
    return markIf(isForAll, engineOf(this), { of: 'all', mark: 'dropped' });
  }

  /**
   * Starts loads for the due keys that have a value, without a read: soonest first, at most 4 loads at a time, each of one
   * key or, with `loadMany`, of one batch. As one ends the next begins, until all keys are loaded that were due at the
   * call. Rejects with `CLOSED` after `close`.
   */
  requestStart(options?: StartKeysOptions): Promise<void> {
    return ignoreRejection(this.#requests.request(options));
  }

  /** The slot of a key, which counts as used now; -1 where it has none. */
  #use(key: K): number {
    if (key === undefined) return -1; // keyOf never gets it
    const idOf = this.#idOf;
    return this.#table.use(idOf === undefined ? (key as KeyId) : ignoreThenable(idOf(key)));
  }

  /** Counts the read. Neither the key nor another member of the group is due, and the key was not invalidated since. */
  #isFresh(slot: number, clock: CoarseClock): boolean {
    clock.update(this.#counters);
    const { instant } = clock;
    if (instant >= this.#stepWatch.checkAt) this.#entries.validity.checkClockStep();
    return this.#columns.isFresh(slot, clock, this.#epochs.now) && instant < this.#rules.piggyback.readsFrom;
  }
}
