import type { ValueMeta } from '../data/value-meta.ts';
import type { Coordinator } from '../engine/coordinator.ts';
import type { LastExecution } from '../engine/next-execution.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { ownOptions } from '../option-checks.ts';
import type { Execution, HeadersLike } from '../schedule/schedule.ts';
import type { CoarseClock } from '../time/coarse-clock.ts';
import { KeyedEntry, type KeyId } from './keyed-entry.ts';
import { type Bound, createLru, type Lru } from './lru.ts';

/** One object for all: a place without a size is taken often. */
const UNSIZED = ownOptions({});

/** Data that few entries have, kept beside the slot. */
interface Extra {
  readonly outcome: Execution['outcome'];
  readonly since: number;
  readonly headers: HeadersLike | undefined;
  readonly meta: ValueMeta | undefined;
  readonly tags: readonly string[] | undefined;
  readonly maxStalenessMs: number;
  readonly maxStalenessOverrideMs: number | undefined;
  readonly isScheduled: boolean;
  readonly scheduledFor: number | undefined;
  readonly nextExecuteTime: number;
}

/** The cells of a slot that a fresh read does not need. */
const CELLS = 3;
/** When it was loaded (monotonic). */
const LOADED = 0;
/** Wall clock minus monotonic clock when the instants were taken. */
const OFFSET = 1;
/** The schedule's time of the last execution, epoch milliseconds; NaN: none. */
const NAMED = 2;

const FIRST_CAPACITY = 64;

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
 * An entry is an object of 29 fields, beside key and id. Passive it is a slot of numbers and its value, a fifth of that, and a fresh
 * read needs the slot alone. It is activated when a read finds it due, or a caller asks for more than the value. Of an
 * active entry the table has its place in the order of use, and the value.
 *
 * lru-cache keeps the order and the bound: it maps each key to the number of its slot.
 */
export class SlotTable<K, V> {
  readonly #options: ResolvedOptions;
  readonly #coordinator: Coordinator | undefined;
  readonly #slots: Lru<number>;
  readonly #maxSlots: number;
  readonly #isSized: boolean;
  readonly #values: (V | undefined)[] = [];
  /** When each is due (monotonic); `-Infinity`: at once, or it is active. */
  #due: Float64Array = new Float64Array(0);
  /** The last 32 bits of the epoch up to which each is valid; not allocated before the first epoch. */
  #validated: Uint32Array | undefined;
  #cells: Float64Array = new Float64Array(0);
  /** How long the load of each took, in milliseconds. */
  #took: Float32Array = new Float32Array(0);
  /** The version of each in the cluster, packed by the coordinator. */
  #versions: Float64Array | undefined;
  /** The keys as they were given, where that is not their identity; by slot. */
  readonly #keys: K[] | undefined;
  #extras: (Extra | undefined)[] | undefined;
  readonly #free: number[] = [];
  #used = 0;

  /** @param keepsKeys the identity of a key is not the key itself. */
  constructor(
    options: ResolvedOptions,
    coordinator: Coordinator | undefined,
    bound: Bound,
    keepsKeys: boolean,
    owner: SlotTableOwner<K>,
  ) {
    this.#options = options;
    this.#coordinator = coordinator;
    const { max = Number.POSITIVE_INFINITY, maxSize } = ownOptions(bound);
    this.#maxSlots = max;
    this.#isSized = maxSize !== undefined;
    this.#keys = keepsKeys ? [] : undefined;
    this.#versions = coordinator && new Float64Array(0);
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
    return this.#slots.get(id) ?? -1;
  }

  /** The slot of a key. */
  find(id: KeyId): number | undefined {
    return this.#slots.peek(id);
  }

  /** A read at the instant of the clock needs nothing but the value. */
  isFresh(slot: number, { instant }: Pick<CoarseClock, 'instant'>, epoch: number): boolean {
    return instant < (this.#due[slot] as number) && (epoch === 0 || this.#validated?.[slot] === epoch >>> 0);
  }

  value(slot: number): V {
    return this.#values[slot] as V;
  }

  /** When the value of a passive entry was loaded (monotonic). */
  loadedAt(slot: number): number {
    return this.#cells[slot * CELLS + LOADED] as number;
  }

  key(id: KeyId, slot: number): K {
    return this.#keys === undefined ? (id as K) : (this.#keys[slot] as K);
  }

  /** When a passive entry is due; `-Infinity` also for an active one. */
  dueAt(slot: number): number {
    return this.#due[slot] as number;
  }

  /** The epoch up to which a passive entry is valid: from its last 32 bits and the present epoch. */
  validatedEpoch(slot: number, epoch: number): number {
    return epoch - ((epoch - (this.#validated?.[slot] ?? 0)) >>> 0);
  }

  validate(slot: number, epoch: number): void {
    if (epoch > 0) this.#validated ??= new Uint32Array(this.#due.length);
    if (this.#validated !== undefined) this.#validated[slot] = epoch;
  }

  tags(slot: number): readonly string[] | undefined {
    return this.#extras?.[slot]?.tags;
  }

  /** Makes a passive entry due at once, or its reads find the active one. */
  invalidate(slot: number): void {
    this.#due[slot] = Number.NEGATIVE_INFINITY;
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
   * {@link passivate}. The value is not larger than `maxSize`.
   */
  place(entry: KeyedEntry<K, V>): number {
    const { id, size } = entry;
    let slot = this.find(id);
    const isResized = this.#isSized && this.#slots.info(id)?.size !== size;
    if (slot === undefined || isResized) {
      slot = this.#take();
      this.#slots.set(id, slot, this.#isSized ? ownOptions({ size }) : UNSIZED);
      if (this.#keys !== undefined) this.#keys[slot] = entry.key;
    }
    this.#values[slot] = entry.value;
    this.#due[slot] = Number.NEGATIVE_INFINITY; // reads find the active entry
    return slot;
  }

  /** Stores all of an entry, whose object may be dropped then. */
  passivate(slot: number, entry: KeyedEntry<K, V>): void {
    const { dueAt, loadedAt, clockOffset } = entry;
    const last = entry.last as LastExecution;
    const cell = slot * CELLS;
    this.#due[slot] = entry.isInvalidated ? Number.NEGATIVE_INFINITY : dueAt;
    this.validate(slot, entry.validatedEpoch);
    this.#took[slot] = last.endedAt - last.startedAt;
    this.#cells[cell + LOADED] = loadedAt;
    this.#cells[cell + OFFSET] = clockOffset;
    this.#cells[cell + NAMED] = last.dueAt ?? Number.NaN;
    if (this.#versions !== undefined)
      this.#versions[slot] = (this.#coordinator as Coordinator).packVersion(entry);
    const extra = this.#extraOf(entry, last);
    if (extra !== undefined) this.#extras ??= [];
    if (this.#extras !== undefined) this.#extras[slot] = extra;
  }

  /** Makes an entry object of a slot. Until {@link invalidate} reads find the slot: the object is a copy. */
  activate(id: KeyId, slot: number, epoch: number): KeyedEntry<K, V> {
    const cell = slot * CELLS;
    const at = (which: number): number => this.#cells[cell + which] as number;
    const extra = this.#extras?.[slot];
    const { maxStalenessMs = this.#options.maxStalenessMs } = extra ?? {};
    const validated = this.validatedEpoch(slot, epoch);
    const entry = new KeyedEntry<K, V>(this.key(id, slot), id, validated, maxStalenessMs);
    const offset = at(OFFSET);
    const endedAt = instant(at(LOADED) + offset);
    const dueAt = this.dueAt(slot);
    entry.putValue(this.value(slot));
    entry.loadedAt = at(LOADED);
    entry.setDue(dueAt, Number.POSITIVE_INFINITY); // to be checked by its first read
    entry.isInvalidated = dueAt === Number.NEGATIVE_INFINITY;
    entry.clockOffset = offset;
    entry.maxStalenessOverrideMs = extra?.maxStalenessOverrideMs;
    entry.nextExecuteTime = extra?.nextExecuteTime ?? instant(dueAt + offset);
    entry.isScheduled = (extra?.isScheduled ?? true) && !entry.isInvalidated;
    entry.scheduledFor = extra === undefined ? finite(entry.nextExecuteTime) : extra.scheduledFor;
    const { size } = this.#isSized ? (this.#slots.info(id) as { size: number }) : entry;
    entry.describe(size, extra?.tags);
    if (this.#versions !== undefined) {
      (this.#coordinator as Coordinator).unpackVersion(entry, this.#versions[slot] as number);
    }
    entry.last = {
      startedAt: endedAt - (this.#took[slot] as number),
      endedAt,
      since: extra?.since ?? endedAt,
      now: endedAt,
      dueAt: finite(at(NAMED)),
      outcome: extra?.outcome ?? 'loaded',
      result: entry.value,
      headers: extra?.headers,
      random: this.#options.random,
      meta: extra?.meta,
    };
    return entry;
  }

  #extraOf(entry: KeyedEntry<K, V>, last: LastExecution): Extra | undefined {
    const { tags, maxStalenessMs, maxStalenessOverrideMs, isScheduled, scheduledFor, nextExecuteTime } =
      entry;
    const { outcome, since, headers, meta } = last;
    const isPlain =
      tags === undefined &&
      headers === undefined &&
      meta === undefined &&
      outcome === 'loaded' &&
      maxStalenessOverrideMs === undefined &&
      maxStalenessMs === this.#options.maxStalenessMs &&
      isScheduled &&
      scheduledFor === finite(nextExecuteTime) &&
      since === last.endedAt;
    if (isPlain) return undefined;
    return {
      tags,
      headers,
      meta,
      outcome,
      maxStalenessOverrideMs,
      maxStalenessMs,
      isScheduled,
      scheduledFor,
      nextExecuteTime,
      since,
    };
  }

  #take(): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot >= this.#due.length) {
      // The new key gets its slot before the evicted one gives up its own.
      const most = Math.max(this.#maxSlots + 1, slot + 1);
      const capacity = Math.min(Math.max(FIRST_CAPACITY, 2 * this.#due.length), most);
      this.#due = grown(new Float64Array(capacity), this.#due);
      if (this.#validated !== undefined) this.#validated = grown(new Uint32Array(capacity), this.#validated);
      this.#cells = grown(new Float64Array(CELLS * capacity), this.#cells);
      this.#took = grown(new Float32Array(capacity), this.#took);
      if (this.#versions !== undefined) this.#versions = grown(new Float64Array(capacity), this.#versions);
      this.#values.length = capacity;
    }
    return slot;
  }

  #release(slot: number): void {
    this.#values[slot] = undefined;
    if (this.#extras !== undefined) this.#extras[slot] = undefined;
    if (this.#keys !== undefined) this.#keys[slot] = undefined as K;
    this.#free.push(slot);
  }
}

function grown<A extends Float64Array | Float32Array | Uint32Array>(larger: A, smaller: A): A {
  larger.set(smaller);
  return larger;
}

/** The wall clock is read in whole milliseconds: removes the error of float sums. */
function instant(sum: number): number {
  return Number.isFinite(sum) ? Math.round(sum * 1000) / 1000 : sum;
}

function finite(instantOrNone: number): number | undefined {
  return Number.isFinite(instantOrNone) ? instantOrNone : undefined;
}
