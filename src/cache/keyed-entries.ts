import type { BackedUp } from '../engine/backups.ts';
import type { KeyedOwner } from '../engine/entry-owner.ts';
import type { LoadResult } from '../engine/load-result.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { StepWatch } from '../time/step-watch.ts';
import { Epochs } from './epochs.ts';
import { KeyedEntry, type KeyId } from './keyed-entry.ts';
import { NegativeCache } from './negative-cache.ts';
import type { ResolvedCacheOptions } from './resolve-cache-options.ts';
import { SlotColumns } from './slot-columns.ts';
import { SlotTable, type SlotTableOwner } from './slot-table.ts';
import { keyIdentity, sizeToKeep } from './value-size.ts';

/** Learns of changes of entries, to start those that fall due without a read. See `due-keys.ts`. */
export interface EntryObserver<K, V> {
  /** An entry with a slot has changed. */
  changed(slot: number, entry: KeyedEntry<K, V>): void;
  /** An entry has no load under way any longer. */
  ended(entry: KeyedEntry<K, V>): void;
  /** The slot belongs to no key from now on. */
  freed(slot: number): void;
  /** Keys may have fallen due in large numbers: a request has to scan for them. */
  markUnscanned(): void;
  /** All keys have to be scanned before the next start. */
  rebuild(): void;
  /** Reads may start loads from now on, or may no longer. */
  plan(): void;
  leave(): void;
}

/**
 * The entries of a cache. Each key is in one of three places:
 *
 *  - passive in the slot table: loaded, without a failure, nothing under way. Nearly all keys are, nearly always;
 *  - active, an entry object: a load is under way, a caller waits, or the last load failed. An active entry with a value
 *    has its slot too;
 *  - in the negative cache: without a value, because the key is absent or cools down. It has bounds of its own, so that
 *    look-ups of nonsense keys evict no value.
 *
 * The engine knows nothing of this. It works on entry objects, which are activated for it ({@link use}), and reports
 * changes ({@link changed}); a settled entry is passivated again.
 *
 * The identity of an entry: while any code works on an entry or waits for it, it is the only one of its key. The load of
 * a key that is evicted goes on: the entry stays active until it settles, resolves its waiters, and takes a new slot.
 */
export class KeyedEntries<K, V> implements KeyedOwner<V>, SlotTableOwner<K> {
  readonly idOf: (key: K) => KeyId;
  readonly table: SlotTable<K, V>;
  readonly validity: KeyValidity<K, V>;
  observer: EntryObserver<K, V> | undefined = undefined;
  firstKey: { changed(entry: KeyedEntry<K, V>): void } | undefined = undefined;
  readonly #options: ResolvedCacheOptions<K, V>;
  readonly #engine: MemberEngine<V>;
  readonly #active: Map<KeyId, KeyedEntry<K, V>> = new Map();
  readonly #negative: NegativeCache<K, V>;

  constructor(options: ResolvedCacheOptions<K, V>, engine: MemberEngine<V>) {
    const { member, bound, keepsKeys } = options;
    this.#options = options;
    this.#engine = engine;
    const validity = new KeyValidity<K, V>(engine);
    this.validity = validity;
    this.idOf = keyIdentity(options);
    this.table = new SlotTable(new SlotColumns(member, engine.coordinator), bound, keepsKeys, this);
    const hasStore = member.membership?.hasStore === true;
    this.#negative = new NegativeCache(options, hasStore ? () => validity.distrustOlder() : undefined);
  }

  get #epoch(): number {
    return this.validity.epochs.now;
  }

  /** Runs an action on the entry of a key, which is active meanwhile. */
  use<R>(key: K, action: (entry: KeyedEntry<K, V>) => R): R {
    return this.useId(this.idOf(key), key, action);
  }

  /** As {@link use}, where the identity is known: its owner may have changed the key since. */
  useId<R>(id: KeyId, key: K, action: (entry: KeyedEntry<K, V>) => R): R {
    const entry = this.#activate(id, key);
    entry.pins += 1;
    try {
      return action(entry);
    } finally {
      entry.pins -= 1;
      this.#settle(entry);
      if (entry.pins === 0) this.#engine.changes.deliver();
    }
  }

  /** The entry of a key that is active, without a mark since it was validated. */
  validActive(id: KeyId): KeyedEntry<K, V> | undefined {
    const entry = this.#active.get(id);
    return entry?.validatedEpoch === this.#epoch ? entry : undefined;
  }

  /** This instance knows the key. */
  has(key: K): boolean {
    const id = this.idOf(key);
    return this.#active.has(id) || this.table.find(id) !== undefined || this.#negative.find(id) !== undefined;
  }

  /** The key of that identity; `undefined`: this instance does not know it. */
  keyOf(id: KeyId): K | undefined {
    const slot = this.table.find(id);
    const held = this.#active.get(id) ?? this.#negative.find(id);
    return held === undefined && slot !== undefined ? this.table.key(id, slot) : held?.key;
  }

  /** This instance or the store may know the key: the store may have keys that were evicted here. */
  mayHave(key: K): boolean {
    return this.has(key) || this.#options.member.membership?.hasStore === true;
  }

  /** The value of a key as it is. */
  peek(key: K): V | undefined {
    const id = this.idOf(key);
    const active = this.#active.get(id);
    // Also of a key that was evicted during its load: reads are served this value until the load has settled.
    if (active !== undefined) return active.value;
    const slot = this.table.find(id);
    return slot === undefined ? undefined : this.table.columns.value(slot);
  }

  /** The entries whose last load failed, with a value or without, except those that are no longer read. */
  failing(): KeyedEntry<K, V>[] {
    const { reporter } = this.#engine;
    return [...this.#active.values(), ...this.#negative.failed()].filter((entry) =>
      reporter.isFailing(entry),
    );
  }

  /** The keys whose values in place a backup has made. */
  backups(): readonly BackedUp[] {
    return this.#engine.backups.all((id) => {
      const active = this.#active.get(id as KeyId);
      return active === undefined ? this.table.find(id as KeyId) !== undefined : active.isLoaded;
    });
  }

  active(): KeyedEntry<K, V>[] {
    return [...this.#active.values()];
  }

  isActive(id: KeyId): boolean {
    return this.#active.has(id);
  }

  /** The entries without a value: their keys are absent or cool down. */
  negative(): KeyedEntry<K, V>[] {
    return [...this.#negative.all()];
  }

  /** All entries with a slot; as they are now, the least recently used first. */
  *eachLoaded(): Generator<readonly [number, KeyedEntry<K, V>]> {
    for (const [id, slot] of [...this.table.slots()]) {
      const entry = this.#active.get(id) ?? this.table.activate(id, slot, this.#epoch);
      if (!entry.isLoaded) continue; // it is just settling, as absent
      this.validity.validate(entry);
      yield [slot, entry];
    }
  }

  pin(entry: KeyedEntry<K, V>): void {
    entry.pins += 1;
  }

  unpin(entry: KeyedEntry<K, V>): void {
    entry.pins -= 1;
  }

  /** Unpins an entry behind all callers. One that was evicted meanwhile, and is not being loaded, does not come back. */
  release(entry: KeyedEntry<K, V>): void {
    entry.pins -= 1;
    if (entry.isEvicted) this.#letGo(entry);
    if (this.#active.get(entry.id) === entry) this.changed(entry);
  }

  changed(entry: KeyedEntry<K, V>): void {
    if (entry.flight === undefined) this.observer?.ended(entry);
    this.firstKey?.changed(entry);
    if (entry.pins > 0) return;
    this.#settle(entry);
    this.#engine.changes.deliver();
  }

  stateChanged(): void {
    if (this.#engine.runState === 'closed') this.observer?.leave();
    else this.observer?.plan();
  }

  admit(entry: KeyedEntry<K, V>, { origin, value }: LoadResult<V>): void {
    if (origin !== 'kept') entry.size = sizeToKeep(this.#options, value, entry.key);
  }

  freed(slot: number): void {
    this.observer?.freed(slot);
  }

  gone(id: KeyId, key: K, isEvicted: boolean): void {
    if (isEvicted) this.#engine.changes.evicted(key);
    const entry = this.#active.get(id);
    if (entry === undefined) return;
    entry.isEvicted = true;
    this.#letGo(entry);
  }

  /**
   * It has lost its slot. While its result is being published it stays all the same: another entry of its key would take its lease
   * for that of another instance.
   */
  #letGo(entry: KeyedEntry<K, V>): void {
    if (entry.pins > 0) return;
    if (!entry.isBusy) this.#active.delete(entry.id);
    else if (!entry.isLoading) entry.leaving = entry.promise;
  }

  #activate(id: KeyId, key: K): KeyedEntry<K, V> {
    const active = this.#active.get(id);
    const entry = active ?? this.#fetch(id, key);
    if (active === undefined) this.#active.set(id, entry);
    this.validity.validate(entry);
    return entry;
  }

  #fetch(id: KeyId, key: K): KeyedEntry<K, V> {
    const slot = this.table.find(id);
    if (slot !== undefined) {
      const entry = this.table.activate(id, slot, this.#epoch);
      this.table.columns.invalidate(slot); // a listener may read before it is settled
      return entry;
    }
    const negative = this.#negative.find(id);
    if (negative !== undefined) return negative;
    return new KeyedEntry<K, V>(key, id, this.#epoch, this.#options.member.maxStalenessMs);
  }

  /** Puts an entry where it belongs, unless code still works on it. */
  #settle(entry: KeyedEntry<K, V>): void {
    const { id } = entry;
    if (entry.pins > 0 || this.#active.get(id) !== entry) return;
    const busy = entry.isBusy;
    if (entry.isLoading) entry.leaving = undefined;
    if (entry.isLoaded) {
      if (entry.isNegative) this.#negative.delete(entry);
      if (entry.leaving !== entry.promise) this.#place(entry, busy);
      else if (!busy) this.#active.delete(id);
      return;
    }
    this.table.delete(id);
    if (!busy) {
      this.#negative.put(entry);
      this.#active.delete(id);
    } else if (entry.isNegative) this.#negative.delete(entry);
  }

  #place(entry: KeyedEntry<K, V>, busy: boolean): void {
    // A key that was evicted during its load evicts another when the load has settled, not before.
    if (entry.isLoading && entry.isEvicted) return;
    entry.isEvicted = false;
    const slot = this.table.place(entry);
    if (!busy && entry.isCalm) {
      this.#active.delete(entry.id);
      this.table.columns.passivate(slot, entry);
    }
    this.observer?.changed(slot, entry);
  }
}

/** Which entries of a cache are out of date, by marks on many of them at a time. */
class KeyValidity<K, V> {
  readonly epochs: Epochs = new Epochs();
  readonly stepWatch: StepWatch;
  /** Snapshots loaded before this instant (monotonic) may have been invalidated since, with no record of it. */
  validSince: number = -Infinity;
  readonly #engine: MemberEngine<V>;
  /** The epoch of the last mark that was made here, not by another instance. */
  #markedHere = 0;

  constructor(engine: MemberEngine<V>) {
    this.#engine = engine;
    this.stepWatch = new StepWatch(engine.options.clock);
  }

  /** A step of the wall clock makes each entry compare the clocks at its next read. */
  checkClockStep(): void {
    if (this.stepWatch.hasStepped(this.#engine.options.clock.monotonic())) this.epochs.next();
  }

  /** The store may have a snapshot of a key that is not held here, and yet was meant. */
  distrustOlder(): void {
    this.validSince = this.#engine.options.clock.monotonic();
  }

  /** The last mark was made here. */
  markedHere(): void {
    this.#markedHere = this.epochs.now;
  }

  /** Applies the marks that were made since the entry was validated last. */
  validate(entry: KeyedEntry<K, V>): void {
    if (entry.validatedEpoch === this.epochs.now) return;
    if (this.epochs.isOutdated(entry.validatedEpoch, entry.tags)) {
      const { coordinator, timing } = this.#engine;
      const invalidate = (): void => timing.invalidated(entry);
      // After an invalidation that was made here only a load will do.
      if (coordinator === undefined || this.#markedHere > entry.validatedEpoch) invalidate();
      else coordinator.invalidatedElsewhere(entry, invalidate);
    }
    // Its result may have a tag that was marked since: later readers wait until that is known.
    const { flight } = entry;
    if (flight?.hasStarted && entry.loadEpoch !== this.epochs.now) flight.outdatedBy ??= 'tag';
    entry.validatedEpoch = this.epochs.now;
  }

  loadBegan(entry: KeyedEntry<K, V>): void {
    entry.loadEpoch = this.epochs.now;
  }

  /** The result was marked while it was loaded. The entry has the tags of the result from now on. */
  isOutdated(entry: KeyedEntry<K, V>, result: LoadResult<V> | 'absent'): boolean {
    const before = entry.tags;
    const tags = result === 'absent' ? undefined : result.metadata.tags;
    entry.describe(
      entry.size,
      tags ?? (result !== 'absent' && result.origin === 'kept' ? before : undefined),
    );
    entry.validatedEpoch = this.epochs.now;
    const { loadEpoch } = entry;
    if (loadEpoch === this.epochs.now) return false;
    return this.epochs.isOutdated(loadEpoch, before) || this.epochs.isOutdated(loadEpoch, entry.tags);
  }
}
