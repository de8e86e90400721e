import { ownOptions } from '../option-checks.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { type Bound, createLru, type Lru } from './lru.ts';
import type { SlotColumns } from './slot-columns.ts';

/**
 * The options of look-ups, and of places without a size: one object for all. Without options lru-cache makes one for each
 * look-up, and allocates it wherever V8 does not inline the call: the read of a key then takes twice as long. Made in this way it
 * has no prototype, as that of `ownOptions`, and fast properties.
 */
const PLAIN: { size?: number; status: unknown } = /* @__PURE__ */ Object.setPrototypeOf(
  { status: undefined },
  null,
);

function plain(): typeof PLAIN {
  PLAIN.status = undefined; // where lru-cache is traced it has kept that of the last call
  return PLAIN;
}

/** Learns of slots that are given up. */
export interface SlotTableOwner<K> {
  /** The slot may be given to another key from now on. */
  freed(slot: number): void;
  /** The key has no slot any longer: it was deleted or evicted. Called in the middle of a change. */
  gone(id: KeyId, key: K, isEvicted: boolean): void;
}

/**
 * The table of the passive entries of a cache: those that are loaded, without a failure, and have nothing under way.
 *
 * Each is a slot: a number, under which the columns have what is stored of it. A fresh read needs the slot alone. It is
 * activated when a read finds it due, or a caller asks for more than the value. Of an active entry the table has its place in
 * the order of use, and the value.
 *
 * lru-cache keeps the order and the bound: it maps each key to the number of its slot.
 */
export class SlotTable<K, V> {
  readonly columns: SlotColumns<K, V>;
  readonly #slots: Lru<number>;
  readonly #maxSlots: number;
  readonly #isSized: boolean;
  /** The keys as they were given, where that is not their identity; by slot. */
  readonly #keys: K[] | undefined;
  readonly #free: number[] = [];
  #used = 0;

  /** @param keepsKeys the identity of a key is not the key itself. */
  constructor(columns: SlotColumns<K, V>, bound: Bound, keepsKeys: boolean, owner: SlotTableOwner<K>) {
    this.columns = columns;
    const { max = Infinity, maxSize } = ownOptions(bound);
    this.#maxSlots = max;
    this.#isSized = maxSize !== undefined;
    this.#keys = keepsKeys ? [] : undefined;
    this.#slots = createLru<number>(bound, (slot, id, reason) => {
      const key = this.key(id, slot);
      this.#release(slot);
      owner.freed(slot);
      if (reason !== 'set') owner.gone(id, key, reason === 'evict');
    });
  }

  get size(): number {
    return this.#slots.size;
  }

  /** The slot of a key, which counts as used now; -1 where it has none. */
  use(id: KeyId): number {
    return this.#slots.get(id, plain()) ?? -1;
  }

  /** The slot of a key. */
  find(id: KeyId): number | undefined {
    return this.#slots.peek(id);
  }

  key(id: KeyId, slot: number): K {
    return this.#keys === undefined ? (id as K) : (this.#keys[slot] as K);
  }

  delete(id: KeyId): boolean {
    return this.#slots.delete(id);
  }

  /** All keys with their slots, the least recently used first. */
  slots(): Iterable<[KeyId, number]> {
    return this.#slots.rentries();
  }

  /**
   * All keys, the most recently used first, walked as they are at each step, of which there are no more than keys now. The
   * next key is found before the present one is given out, which may be used then.
   */
  *recentKeys(): IterableIterator<K> {
    const walk = this.#slots.entries()[Symbol.iterator]();
    let next = walk.next();
    for (let left = this.size; left > 0 && !next.done; left--) {
      const [id, slot] = next.value;
      const isThere = this.find(id) === slot;
      const key = this.key(id, slot);
      next = walk.next();
      if (isThere) yield key;
    }
  }

  /**
   * Gives an entry its slot and stores its value. A new slot counts as used now; the times are stored by
   * `passivate` of the columns. The value is not larger than `maxSize`.
   */
  place(entry: KeyedEntry<K, V>): number {
    const { id, size } = entry;
    let slot = this.find(id);
    const isResized = this.#isSized && this.#slots.info(id)?.size !== size;
    if (slot === undefined || isResized) {
      slot = this.#take();
      this.#slots.set(id, slot, this.#isSized ? ownOptions({ size }) : plain());
      if (this.#keys !== undefined) this.#keys[slot] = entry.key;
    }
    this.columns.putValue(slot, entry.value);
    return slot;
  }

  /** Makes an entry object of a slot. Until the slot is invalidated reads find it: the object is a copy. */
  activate(id: KeyId, slot: number, epoch: number): KeyedEntry<K, V> {
    const entry = this.columns.activate(id, this.key(id, slot), slot, epoch);
    if (this.#isSized) entry.size = this.#slots.info(id)?.size as number;
    return entry;
  }

  #take(): number {
    const slot = this.#free.pop() ?? this.#used++;
    this.columns.makeRoom(slot, this.#maxSlots + 1); // the evicted key gives up its slot after this
    return slot;
  }

  #release(slot: number): void {
    this.columns.clear(slot);
    if (this.#keys !== undefined) this.#keys[slot] = undefined as K;
    this.#free.push(slot);
  }
}
