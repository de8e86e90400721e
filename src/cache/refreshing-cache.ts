import { DueQueue } from '../due/due-queue.ts';
import type { EntryOwner } from '../engine/entry-owner.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { Load } from '../engine/loader.ts';
import { closedError } from '../engine/read-errors.ts';
import type { ReadOptions } from '../engine/reader.ts';
import { Refresher } from '../engine/refresher.ts';
import { CacheMember } from '../group/cache-member.ts';
import { OptionChecks } from '../option-checks.ts';
import { defaults, type WaitUntil } from '../options/shared-options.ts';
import { type CoarseClock, coarseClocks } from '../time/coarse-clock.ts';
import { rejected } from '../time/deferred.ts';
import type { StepWatch } from '../time/step-watch.ts';
import { Lifecycle } from '../value/lifecycle.ts';
import type { InvalidateOptions } from '../value/refreshing-value.ts';
import { checkValue } from '../value/value-argument.ts';
import { type ValueStatus, valueStatus } from '../value/value-status.ts';
import {
  type CachePolicy,
  type RefreshingCacheOptions,
  resolveCacheOptions,
  sizeArgument,
} from './cache-options.ts';
import { DueKeys } from './due-keys.ts';
import { type CacheDump, dumpOf, entriesOf, type RestoreReport, restoreInto } from './dump.ts';
import type { Epochs } from './epochs.ts';
import { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { readMany } from './read-many.ts';
import type { SlotTable } from './slot-table.ts';

/** What `getMany` takes. */
export interface GetManyOptions<K> extends ReadOptions {
  /**
   * Is told of each key that could not be had, but for absent ones; the `Map` is without them then. Without it,
   * `getMany` rejects when one could not be had.
   */
  readonly onError?: ((error: unknown, key: K) => void) | undefined;
}

/** What `requestStart` of a cache takes. */
export interface StartKeysOptions {
  /** Resolve when all that was due has been loaded, or failed; never rejects because of a load. @default false */
  readonly wait?: boolean | undefined;
  /** Is given a promise of that. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

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
 * All that holds for a `RefreshingValue` holds for each key: the first read waits, later ones are answered at once, a
 * due reload starts behind the read, once; a key that fails cools down by itself. Errors and events carry the `key`.
 *
 * Keys that were loaded together are spread, so that they do not fall due together (`jitter`). Between loads there is
 * no timer and no handle.
 */
export class RefreshingCache<K, V extends Previous, Previous = V> extends Lifecycle<V> {
  readonly #options: CachePolicy<K, V>;
  readonly #refresher: Refresher<V>;
  readonly #entries: KeyedEntries<K, V>;
  // For fresh reads, which do not take the way round.
  readonly #shelf: SlotTable<K, V>;
  readonly #epochs: Epochs;
  readonly #clocks: StepWatch;
  readonly #idOf: ((key: K) => KeyId) | undefined;
  readonly #now: CoarseClock;
  readonly #awaited: CoarseClock;
  #pump: DueQueue | undefined;

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(options: RefreshingCacheOptions<K, V, Previous>) {
    const resolved = resolveCacheOptions(options);
    const { policy } = resolved;
    const load: Load<V> = (context, entry) =>
      entries.load(entry as KeyedEntry<K, V>, context as LoadContext<V>);
    const refresher = new Refresher(policy, load, (execution) => this.nextExecuteTime(execution));
    const entries = new KeyedEntries(resolved, refresher);
    super(refresher);
    refresher.keptBy(entries as EntryOwner<V>);
    this.#options = resolved;
    this.#refresher = refresher;
    this.#entries = entries;
    this.#shelf = entries.shelf;
    this.#epochs = entries.epochs;
    this.#clocks = entries.clocks;
    this.#idOf = resolved.keepsKeys ? resolved.idOf : undefined;
    const { sync, awaited } = coarseClocks(policy.clock);
    this.#now = sync;
    this.#awaited = awaited;
    const { name, family } = policy;
    if (family !== undefined) {
      const { door } = this.#startable().join((keys) =>
        family.join(new CacheMember(name, entries, refresher, keys)),
      );
      refresher.keptBy(entries as EntryOwner<V>, door);
    }
  }

  /** How many values are held. */
  get size(): number {
    return this.#shelf.size;
  }

  /**
   * Reads the value of a key; as `get` of `RefreshingValue`, for each key. Rejects with `AbsentError` when the source
   * has no such key, and with `OptionError` for the key `undefined`. Each call makes a promise of its own.
   *
   * With `loadMany`, keys whose loads begin in the same turn of the event loop come in one call.
   */
  get(key: K, options?: ReadOptions): Promise<V> {
    try {
      const row = this.#use(key);
      const isFresh = options === undefined && row >= 0 && this.#isFresh(row, this.#awaited);
      return isFresh ? Promise.resolve(this.#shelf.value(row)) : this.#read(key, options);
    } catch (error) {
      return rejected(error);
    }
  }

  /**
   * Reads the value of a key without a promise; as `current` of `RefreshingValue`, for each key. With a synchronous
   * `load` (not with `loadMany`, which waits for others) it works on the very first read.
   *
   * @throws {NotLoadedError} before the first success of that key; the load has been started if it may.
   * @throws {AbsentError} when the source has no such key.
   * @throws {StaleValueError} beyond `maxStaleness`, unless `whenTooStale` is `serve`.
   * @throws {OptionError} for the key `undefined`.
   */
  current(key: K): V {
    const row = this.#use(key);
    return row >= 0 && this.#isFresh(row, this.#now) ? this.#shelf.value(row) : this.#readNow(key);
  }

  /**
   * Reads the values of several keys: those that are held are taken at once, the cold ones come in one `loadMany`.
   * The `Map` has the keys in the order in which they were asked for; absent ones are missing from it.
   *
   * When a key can't be had it rejects, once all others are there and held: with the error of that key, or with an
   * `AggregateError` of several. With `onError` it resolves without them instead.
   */
  getMany(keys: Iterable<K>, options?: GetManyOptions<K>): Promise<Map<K, V>> {
    const { onError, waitUntil, ...others } = options ?? {};
    const checks = new OptionChecks(this.#options.policy.name);
    const isIterable = typeof keys === 'object' && typeof keys?.[Symbol.iterator] === 'function';
    checks.that(isIterable, 'keys', 'must be an array, or another iterable, of keys', keys);
    if (onError !== undefined) checks.function('onError', onError);
    let asked: K[];
    try {
      checks.done();
      asked = [...new Set(keys)];
    } catch (error) {
      return rejected(error);
    }
    const ends: Promise<unknown>[] = [];
    const ofEach = {
      ...others,
      ...(waitUntil === undefined ? {} : { waitUntil: (end: Promise<unknown>) => void ends.push(end) }),
    };
    const read = Object.keys(ofEach).length > 0 ? ofEach : undefined;
    const found = readMany(this.#options.policy.name, asked, (key) => this.get(key, read), onError);
    if (waitUntil !== undefined && ends.length > 0) this.#refresher.promise(waitUntil, Promise.all(ends));
    return found;
  }

  /**
   * The value of a key as it is, however old; `undefined` while there is none. Starts nothing, and does not count as
   * use.
   *
   * @throws {OptionError} for the key `undefined`.
   */
  peek(key: K): V | undefined {
    return this.#entries.peek(key);
  }

  /**
   * What is served for a key, how old it is, and how its reloads fare; `undefined` when nothing is known of it. Starts
   * nothing, and does not count as use.
   *
   * @throws {OptionError} for the key `undefined`.
   */
  inspect(key: K): ValueStatus<V> | undefined {
    if (!this.#entries.has(key)) return undefined;
    return this.#entries.use(key, (entry) => {
      const execution = this.#refresher.inspect(entry);
      return valueStatus(entry, execution, this.#options.policy.clock.monotonic());
    });
  }

  /** The keys whose values are held, the least recently used first; as they are now. */
  keys(): IterableIterator<K> {
    return Array.from(this.#shelf.rows(), ([id, row]) => this.#shelf.key(id, row)).values();
  }

  /**
   * Loads the value of a key now; as `refresh` of `RefreshingValue`, for each key. Rejects with `AbsentError` when the
   * source has no such key.
   */
  refresh(key: K): Promise<V> {
    try {
      return this.#entries.use(key, (entry) => this.#refresher.refresh(entry));
    } catch (error) {
      return rejected(error);
    }
  }

  /**
   * Marks the value of a key as out of date; as `invalidate` of `RefreshingValue`. A key that was absent is asked for
   * again. Without an argument it marks all: that costs the same however many there are, each is looked at when it is
   * read next.
   *
   * @throws {OptionError} for a key that is given and `undefined`: it is a mistake, and would wipe all.
   */
  invalidate(...given: [key?: K, options?: InvalidateOptions]): void {
    const [key, options] = given;
    if (given.length === 0) this.#entries.invalidateAll();
    else if (this.#entries.mayHave(key as K)) {
      this.#entries.use(key as K, (entry) => this.#refresher.invalidate(entry, options?.drop === true));
    }
  }

  /**
   * Marks those values as out of date for which the predicate answers true; keys that are being loaded for the first
   * time are shown to it with `undefined`. It is asked for every key before any is marked; what it throws is thrown.
   *
   * @returns how many were marked.
   * @throws {OptionError} when it is no function.
   */
  invalidateWhere(predicate: (key: K, value: V | undefined) => boolean): number {
    const checks = new OptionChecks(this.#options.policy.name);
    checks.function('predicate', predicate);
    checks.done();
    return this.#entries.invalidateWhere(predicate);
  }

  /**
   * Marks those values as out of date whose load gave them the tag: `loaded(value, { tags: ['nl'] })`. It costs the same
   * however many keys bear it: each is looked at when it is read next. A load that is under way began before: should
   * its value turn out to bear the tag, it is loaded again, and who waits for it waits for that.
   *
   * @throws {OptionError} when it is no string.
   */
  invalidateTag(tag: string): void {
    const checks = new OptionChecks(this.#options.policy.name);
    checks.that(typeof tag === 'string', 'tag', 'must be a string', tag);
    checks.done();
    this.#entries.invalidateTag(tag);
  }

  /**
   * Puts a value in by hand, loaded just now; as `set` of `RefreshingValue`, for each key. It bears no tags.
   *
   * @throws {OptionError} for the key `undefined`, for `undefined` without `allowUndefined`, for a promise, and for a
   * value whose `sizeOf` is no size.
   */
  set(key: K, value: V): void {
    checkValue(this.#options.policy, key, value);
    const size = sizeArgument(this.#options, value, key);
    this.#entries.use(key, (entry) => {
      this.#refresher.set(entry, value, () => {
        entry.size = size;
        entry.tags = undefined;
      });
    });
  }

  /**
   * Forgets the value of a key, and that it was absent. A load under way is aborted; who waits for it waits for its
   * successor. A cool-down stays in force.
   *
   * @returns whether there was a value.
   * @throws {OptionError} for the key `undefined`.
   */
  delete(key: K): boolean {
    if (!this.#entries.mayHave(key)) return false;
    return this.#entries.use(key, (entry) => {
      const had = entry.isLoaded;
      this.#refresher.invalidate(entry, true);
      return had;
    });
  }

  /** {@link delete} of all keys. */
  clear(): void {
    this.#entries.clear();
  }

  /**
   * Starts loads for the keys that are held and due, though nobody reads them: soonest first, at most 4 loads at a
   * time, each of one key or, with `loadMany`, of one batch. As one ends the next begins, until all is loaded that was
   * due at the call. Rejects with `ClosedError` after `close`.
   */
  requestStart(options?: StartKeysOptions): Promise<void> {
    const { name, clock } = this.#options.policy;
    if (this.#refresher.gate === 'closed') return rejected(closedError(name));
    if (this.#pump === undefined) {
      const { concurrency, lookAhead } = defaults;
      const pump = new DueQueue({ clock, concurrency, lookAheadMs: lookAhead, piggyback: false });
      this.#startable().join((keys) => pump.join(keys));
      this.#pump = pump;
    }
    const { wait = false, waitUntil } = options ?? {};
    if (!wait && waitUntil === undefined) {
      this.#pump.request();
      return Promise.resolve();
    }
    const ends = [...this.#entries.ends(), this.#pump.requestAndHold()];
    const end = Promise.all(ends).then(() => {});
    if (waitUntil !== undefined) this.#refresher.promise(waitUntil, end);
    return wait ? end : Promise.resolve();
  }

  /**
   * Takes down all values for a warm start, with their ages, next execute times and tags. Not: keys without a value,
   * and failures.
   */
  dump(): CacheDump<K, V> {
    this.#entries.compareClocks();
    return dumpOf(
      [...this.#entries.eachLoaded()].map(([, entry]) => entry),
      this.#options.policy,
    );
  }

  /**
   * Takes in the values of a dump, be it of this cache or another. They have aged since by what the wall clock says;
   * those older than `maxStaleness`, those older than what is held, and those that find no room are dropped. What is due by now is served, and reloaded when it is read.
   *
   * @throws {OptionError} when it is no dump; nothing was taken in then.
   */
  restore(dump: CacheDump<K, V>): RestoreReport {
    const restored = entriesOf(dump, (key) => this.#entries.idOf(key), this.#options);
    return restoreInto(this.#entries, restored, this.#options.policy);
  }

  // Apart from the fresh reads, which need no closures.
  #read(key: K, options: ReadOptions | undefined): Promise<V> {
    const id = this.#entries.idOf(key);
    const joined = options === undefined ? this.#entries.join(id) : undefined;
    if (joined !== undefined) return joined;
    const again = (): Promise<V> => this.get(key);
    return this.#entries.useId(id, key, (entry) => this.#refresher.reads.read(entry, options, again));
  }

  #readNow(key: K): V {
    return this.#entries.use(key, (entry) => this.#refresher.reads.readNow(entry));
  }

  /** The row of a key, which counts as used now; -1 where it has none. */
  #use(key: K): number {
    if (key === undefined) return -1; // keyOf is not to see it
    return this.#shelf.use(this.#idOf === undefined ? (key as KeyId) : this.#idOf(key));
  }

  /** Nothing is due, neither here nor elsewhere in the group, and nothing was invalidated since. */
  #isFresh(row: number, clock: CoarseClock): boolean {
    clock.update();
    if (clock.instant >= this.#clocks.checkAt) this.#entries.look();
    return (
      this.#shelf.isFresh(row, clock, this.#epochs.now) && clock.instant < this.#refresher.door.readsFrom
    );
  }

  /** Who starts keys that nobody reads. */
  #startable(): DueKeys<K, V> {
    this.#entries.dueKeys ??= new DueKeys(this.#entries, this.#refresher, this.#options.perLoad);
    return this.#entries.dueKeys;
  }
}
