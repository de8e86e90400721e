import { sharedOf, waitersOf } from '../engine/entry.ts';
import type { EntryOwner } from '../engine/entry-owner.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { LoadResult } from '../engine/load-result.ts';
import type { Refresher } from '../engine/refresher.ts';
import { isAbsentError, OptionError, showKey } from '../errors.ts';
import { StepWatch } from '../time/step-watch.ts';
import { type CachePolicy, sizeOfValue } from './cache-options.ts';
import type { DueKeys } from './due-keys.ts';
import type { RestoredEntry } from './dump.ts';
import { Epochs } from './epochs.ts';
import { KeyedEntry, type KeyId } from './keyed-entry.ts';
import { NegativeCache } from './negative-cache.ts';
import { SlotTable, type SlotTableOwner } from './slot-table.ts';

/**
 * Keeps the entries of a cache. Each key is in one of three places:
 *
 *  - asleep on the `shelf`: loaded, in good order, nothing under way. Nearly all are, at nearly all times;
 *  - `awake`, an entry object: its load is under way, somebody waits for it, or its last load failed. One that has a
 *    value has its place on the shelf too;
 *  - vacant: without a value, `absent` or, having `failed`, cooling down. Those are held apart and bounded apart, so that
 *    look-ups of nonsense keys push out no value.
 *
 * The engine knows nothing of this. It works on entry objects, which are woken for it ({@link use}), and tells when it
 * has changed one ({@link changed}); what is calm then goes back to sleep.
 *
 * The identity of an entry: while anybody works on an entry or waits for it, it is the only one of its key. A load of
 * a key that is pushed out goes on: the entry stays awake until it lands, answers who waits, and takes a new place.
 */
export class KeyedEntries<K, V> implements EntryOwner<V>, SlotTableOwner {
  readonly shelf: SlotTable<K, V>;
  readonly epochs: Epochs = new Epochs();
  readonly clocks: StepWatch;
  validSince: number = Number.NEGATIVE_INFINITY;
  /** Which keys are due, for who starts them unread. */
  dueKeys: DueKeys<K, V> | undefined;
  readonly #options: CachePolicy<K, V>;
  readonly #refresher: Refresher<V>;
  readonly #awake: Map<KeyId, KeyedEntry<K, V>> = new Map();
  readonly #vacancies: NegativeCache<K, V>;

  constructor(options: CachePolicy<K, V>, refresher: Refresher<V>) {
    const { policy, bound, keepsKeys } = options;
    this.#options = options;
    this.#refresher = refresher;
    this.shelf = new SlotTable(policy, bound, keepsKeys, this);
    this.#vacancies = new NegativeCache(options, policy.store && (() => this.#distrustOlder()));
    this.clocks = new StepWatch(policy.clock);
  }

  /** @throws {OptionError} when the key is `undefined`, or has no identity. */
  idOf(key: K): KeyId {
    const id: unknown = key === undefined ? undefined : this.#options.idOf(key);
    const { keepsKeys, policy } = this.#options;
    const isId = keepsKeys ? !['undefined', 'object', 'function'].includes(typeof id) : id !== undefined;
    if (isId) return id as KeyId;
    const [option, rule, received] =
      key === undefined
        ? ['key', 'must not be undefined', key]
        : ['keyOf', 'must answer with a string, a number or the like', id];
    throw new OptionError([{ option, rule, received }], { cacheName: policy.name });
  }

  /** Does something with the entry of a key, which is awake meanwhile. */
  use<R>(key: K, action: (entry: KeyedEntry<K, V>) => R): R {
    return this.useId(this.idOf(key), key, action);
  }

  /** As {@link use}, where the identity is known: the key may have been changed since by its owner. */
  useId<R>(id: KeyId, key: K, action: (entry: KeyedEntry<K, V>) => R): R {
    const entry = this.#wake(id, key);
    this.hold(entry);
    try {
      return action(entry);
    } finally {
      entry.uses -= 1;
      this.#settle(entry);
    }
  }

  /** The next value of a key whose first load has begun; as `join` of the reader. */
  join(id: KeyId): Promise<V> | undefined {
    const entry = this.#awake.get(id);
    return entry?.validatedEpoch === this.epochs.now ? this.#refresher.reads.join(entry) : undefined;
  }

  /** Something is known of the key here. */
  has(key: K): boolean {
    const id = this.idOf(key);
    return this.#awake.has(id) || this.shelf.find(id) !== undefined || this.#vacancies.find(id) !== undefined;
  }

  /** Something may be known of the key, here or in the store: that may have what was pushed out here. */
  mayHave(key: K): boolean {
    return this.has(key) || this.#options.policy.store !== undefined;
  }

  /** The value of a key as it is. */
  peek(key: K): V | undefined {
    const id = this.idOf(key);
    const awake = this.#awake.get(id);
    // Also of one that was pushed out while it loads: that is what reads are served until the load has landed.
    if (awake !== undefined) return awake.value;
    const row = this.shelf.find(id);
    return row === undefined ? undefined : this.shelf.value(row);
  }

  /** All whose last load failed, with a value or without. */
  failing(): KeyedEntry<K, V>[] {
    return [...this.#awake.values(), ...this.#vacancies.failed()].filter(({ failures }) => failures > 0);
  }

  /** The ends of all loads under way; the process is to live until then. */
  ends(): Promise<void>[] {
    return this.awake().flatMap((entry) => (entry.flight === undefined ? [] : [waitersOf(entry).end()]));
  }

  /** All that are awake. */
  awake(): KeyedEntry<K, V>[] {
    return [...this.#awake.values()];
  }

  /** All that have a place on the shelf, with their rows; as they are now, the least recently used first. */
  *eachLoaded(): Generator<readonly [number, KeyedEntry<K, V>]> {
    for (const [id, row] of [...this.shelf.rows()]) {
      const entry = this.#awake.get(id) ?? this.shelf.wake(id, row, this.epochs.now);
      if (!entry.isLoaded) continue; // it is just landing, as absent
      this.#judge(entry);
      yield [row, entry];
    }
  }

  /** A step of the wall clock makes each entry compare the clocks when it is read next. */
  look(): void {
    if (this.clocks.hasStepped(this.#options.policy.clock.monotonic())) this.epochs.next();
  }

  /** Has the wall clock been stepped? Then all due times are computed anew. */
  compareClocks(): void {
    const now = this.#options.policy.clock.monotonic();
    for (const [, { id, key }] of [...this.eachLoaded()]) {
      this.useId(id, key, (entry) => this.#refresher.compareClocks(entry, now));
    }
  }

  /** All entries that bear the tag are out of date. */
  invalidateTag(tag: string): void {
    this.#distrustOlder();
    this.epochs.markTag(tag);
    if (this.epochs.isCrowded) this.#judgeAll();
    this.dueKeys?.markUnseen();
  }

  /** All entries are out of date. */
  invalidateAll(): void {
    this.#distrustOlder();
    this.epochs.markAll();
    for (const { id, key } of this.awake()) {
      this.useId(id, key, (entry) => this.#refresher.invalidate(entry, false));
    }
    this.dueKeys?.rebuild();
  }

  /** A snapshot in the store may be of a key that is not held here, and yet was meant. */
  #distrustOlder(): void {
    this.validSince = this.#options.policy.clock.monotonic();
  }

  /** So that the marks can be forgotten, but for those that loads under way will be held against. */
  #judgeAll(): void {
    let oldest = this.epochs.now;
    for (const entry of this.#awake.values()) {
      this.#judge(entry);
      if (entry.flight !== undefined) oldest = Math.min(oldest, entry.loadEpoch);
    }
    for (const [, row] of this.shelf.rows()) {
      if (this.epochs.isOutdated(this.shelf.validatedEpoch(row, this.epochs.now), this.shelf.tags(row)))
        this.shelf.invalidate(row);
      this.shelf.judge(row, this.epochs.now);
    }
    this.epochs.forget(oldest);
  }

  /** Loads the entry of one key. */
  load(entry: KeyedEntry<K, V>, context: LoadContext<V>): ReturnType<CachePolicy<K, V>['load']> {
    if (context.attempt === 1) this.began(entry);
    return this.#options.load(entry, context);
  }

  /** Takes in a value from elsewhere, unless what is held is younger. @returns whether it was. */
  restore(restored: RestoredEntry<K, V>): boolean {
    const { key, value, size, tags, ageMs, nextExecuteTime, maxStalenessMs } = restored;
    const now = this.#options.policy.clock.monotonic();
    return this.use(key, (entry) => {
      if (entry.isLoaded && now - entry.loadedAt <= ageMs) return false;
      const { timing } = this.#refresher;
      if (isAbsentError(entry.lastError)) timing.invalidated(entry); // the source has it after all
      entry.value = value;
      entry.promise = Promise.resolve(value);
      entry.isLoaded = true;
      entry.isInvalidated = false;
      entry.tags = tags;
      entry.size = size;
      if (this.#options.policy.store !== undefined) sharedOf(entry).isLocal = true;
      timing.restored(entry, ageMs, nextExecuteTime, maxStalenessMs);
      this.shelf.place(entry); // also while it is being loaded
      return true;
    });
  }

  /** Those are out of date that the predicate picks. @returns how many. */
  invalidateWhere(predicate: (key: K, value: V | undefined) => boolean): number {
    this.#distrustOlder();
    const picked: { readonly id: KeyId; readonly key: K }[] = [];
    for (const [id, row] of [...this.shelf.rows()]) {
      if (this.shelf.find(id) !== row || this.#awake.has(id)) continue; // also after what a predicate did
      const key = this.shelf.key(id, row);
      if (predicate(key, this.shelf.value(row))) picked.push({ id, key });
    }
    for (const entry of this.awake()) if (predicate(entry.key, entry.value)) picked.push(entry);
    for (const { id, key } of picked) {
      this.useId(id, key, (entry) => this.#refresher.invalidate(entry, false));
    }
    return picked.length;
  }

  /** Forgets all values, and which keys are absent. */
  clear(): void {
    this.#distrustOlder();
    for (const [id] of [...this.shelf.rows()]) if (!this.#awake.has(id)) this.shelf.delete(id);
    for (const { id, key } of [...this.#awake.values(), ...this.#vacancies.all()]) {
      this.useId(id, key, (entry) => this.#refresher.invalidate(entry, true));
    }
  }

  hold(entry: KeyedEntry<K, V>): void {
    entry.uses += 1;
  }

  release(entry: KeyedEntry<K, V>): void {
    entry.uses -= 1;
    this.changed(entry);
  }

  began(entry: KeyedEntry<K, V>): void {
    entry.loadEpoch = this.epochs.now;
  }

  changed(entry: KeyedEntry<K, V>): void {
    if (entry.flight === undefined) this.dueKeys?.ended(entry);
    this.#settle(entry);
  }

  turned(): void {
    if (this.#refresher.gate === 'closed') this.dueKeys?.leave();
    else this.dueKeys?.plan();
  }

  admit(entry: KeyedEntry<K, V>, { outcome, value }: LoadResult<V>): void {
    if (outcome !== 'kept') entry.size = sizeOfValue(this.#options.sizeOf, value, entry.key);
  }

  isOutdated(entry: KeyedEntry<K, V>, answer: LoadResult<V> | 'absent'): boolean {
    const before = entry.tags;
    const tags = answer === 'absent' ? undefined : answer.said.tags;
    entry.tags = tags ?? (answer !== 'absent' && answer.outcome === 'kept' ? before : undefined);
    entry.validatedEpoch = this.epochs.now;
    const { loadEpoch } = entry;
    return this.epochs.isOutdated(loadEpoch, before) || this.epochs.isOutdated(loadEpoch, entry.tags);
  }

  freed(row: number): void {
    this.dueKeys?.freed(row);
  }

  gone(id: KeyId): void {
    const entry = this.#awake.get(id);
    if (entry === undefined) return;
    entry.isPushedOut = true;
    // What was deleted while its lease is being given back is vacant after that: its failures are still to be known.
    const isKept = entry.isLoaded ? isLoading(entry) : isBusy(entry);
    if (entry.uses === 0 && !isKept) this.#awake.delete(id);
  }

  #wake(id: KeyId, key: K): KeyedEntry<K, V> {
    const entry = this.#awake.get(id) ?? this.#fetch(id, key);
    this.#awake.set(id, entry);
    this.#judge(entry);
    return entry;
  }

  #fetch(id: KeyId, key: K): KeyedEntry<K, V> {
    const row = this.shelf.find(id);
    if (row !== undefined) return this.shelf.wake(id, row, this.epochs.now);
    const vacant = this.#vacancies.find(id);
    if (vacant !== undefined) return vacant;
    const entry = new KeyedEntry<K, V>(key, id, this.epochs.now);
    entry.maxStalenessMs = this.#options.policy.maxStalenessMs;
    return entry;
  }

  #judge(entry: KeyedEntry<K, V>): void {
    if (this.epochs.isOutdated(entry.validatedEpoch, entry.tags)) this.#refresher.timing.invalidated(entry);
    entry.validatedEpoch = this.epochs.now;
  }

  /** Puts an entry where it belongs, unless somebody works on it. */
  #settle(entry: KeyedEntry<K, V>): void {
    const { id } = entry;
    if (entry.uses > 0 || this.#awake.get(id) !== entry) return;
    const isVacant = !entry.isLoaded && !isBusy(entry);
    this.#vacancies.put(entry, isVacant);
    if (isVacant) this.#awake.delete(id);
    if (entry.isLoaded) this.#place(entry);
    else this.shelf.delete(id);
  }

  #place(entry: KeyedEntry<K, V>): void {
    // One that was pushed out while it loads pushes out another when it has landed, not before.
    if (isBusy(entry) && entry.isPushedOut) return;
    entry.isPushedOut = false;
    const row = this.shelf.place(entry);
    if (isBusy(entry)) {
      // Its load will tell.
    } else if (row === undefined) {
      this.#awake.delete(entry.id);
      const about = `the value of ${showKey(entry.key)} is over maxSize and not held`;
      this.#options.policy.logger.error(about, `its size is ${entry.size}`);
    } else if (isCalm(entry)) {
      this.#awake.delete(entry.id);
      this.shelf.sleep(row, entry);
    }
    if (row !== undefined) this.dueKeys?.changed(row, entry);
  }
}

/** It has a load under way, or somebody who waits for one. */
function isLoading({ flight, waiters }: KeyedEntry<unknown, unknown>): boolean {
  return flight !== undefined || waiters !== undefined;
}

/** It is being loaded, or its lease is not given back yet. */
function isBusy(entry: KeyedEntry<unknown, unknown>): boolean {
  return isLoading(entry) || entry.shared?.round !== undefined;
}

/** There is nothing to be remembered of it beyond its value and its times. */
function isCalm({ lastError, deferredUntil, shared }: KeyedEntry<unknown, unknown>): boolean {
  const isStandingBy = deferredUntil !== Number.NEGATIVE_INFINITY;
  return lastError === undefined && !isStandingBy && shared?.request === undefined;
}
