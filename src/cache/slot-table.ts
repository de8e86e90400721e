import { sharedOf } from '../engine/entry.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { Execution, HeadersLike } from '../schedule/schedule.ts';
import type { CoarseClock } from '../time/coarse-clock.ts';
import { KeyedEntry, type KeyId } from './keyed-entry.ts';
import { type Bound, createLru, type Lru } from './lru.ts';

/** What few entries have, and so is kept beside the row. */
interface Extra {
  readonly outcome: Execution['outcome'];
  readonly since: number;
  readonly headers: HeadersLike | undefined;
  readonly tags: readonly string[] | undefined;
  readonly maxStalenessMs: number;
  readonly maxStalenessOverrideMs: number | undefined;
  readonly isScheduled: boolean;
  readonly scheduledFor: number | undefined;
  readonly nextExecuteTime: number;
}

/** The cells of a row that a fresh read does not look at. */
const CELLS = 3;
/** When it was loaded (monotonic). */
const LOADED = 0;
/** Wall clock minus monotonic clock when the instants were taken. */
const OFFSET = 1;
/** The instant that the schedule had named for the last execution, epoch milliseconds; NaN: none. */
const NAMED = 2;

const FIRST_CAPACITY = 64;

/** Who is told of rows that are given up. */
export interface SlotTableOwner {
  /** The row may be taken for another key from now on. */
  freed(row: number): void;
  /** The key has no row any more: it was deleted, or pushed out by others. */
  gone(id: KeyId): void;
}

/**
 * Where the entries of a cache sleep: those that are loaded, in good order, and have nothing under way.
 *
 * An entry is an object of some twenty fields. Asleep it is a row of numbers and its value, a fifth of that, and a
 * fresh read looks at the row alone. It is woken when a read finds it due, or somebody asks for more than the value;
 * of an entry that is awake the shelf has its place in the order of use, and the value.
 *
 * lru-cache keeps the order and the bound: it holds the number of the row for each key.
 */
export class SlotTable<K, V> {
  readonly #policy: ResolvedOptions;
  readonly #rows: Lru<number>;
  readonly #maxRows: number;
  readonly #isSized: boolean;
  readonly #values: (V | undefined)[] = [];
  /** When each is due (monotonic); `-Infinity`: at once, or it is awake. */
  #due: Float64Array = new Float64Array(0);
  /** The last 32 bits of the epoch up to which each was judged; there is none before the first of them. */
  #judged: Uint32Array | undefined;
  #cells: Float64Array = new Float64Array(0);
  /** How long the load of each took, in milliseconds. */
  #took: Float32Array = new Float32Array(0);
  /** The version of each in the cluster, where there is one; of one set by hand: -1 less that. */
  #versions: Float64Array | undefined;
  /** The keys as they were given, where that is not their identity; by row. */
  readonly #keys: K[] | undefined;
  #extras: (Extra | undefined)[] | undefined;
  readonly #free: number[] = [];
  #used = 0;

  /** @param keepsKeys the identity of a key is not the key itself. */
  constructor(policy: ResolvedOptions, bound: Bound, keepsKeys: boolean, keeper: SlotTableOwner) {
    this.#policy = policy;
    this.#maxRows = bound.max ?? Number.POSITIVE_INFINITY;
    this.#isSized = bound.maxSize !== undefined;
    this.#keys = keepsKeys ? [] : undefined;
    const isAlone = policy.lock === undefined && policy.store === undefined;
    this.#versions = isAlone ? undefined : new Float64Array(0);
    this.#rows = createLru<number>(bound, (row, id, reason) => {
      this.#release(row);
      keeper.freed(row);
      if (reason !== 'set') keeper.gone(id);
    });
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The row of a key, which counts as used now; -1 where it has none. */
  use(id: KeyId): number {
    return this.#rows.get(id) ?? -1;
  }

  /** The row of a key. */
  find(id: KeyId): number | undefined {
    return this.#rows.peek(id);
  }

  /** A read at the instant of the clock needs nothing but the value. */
  isFresh(row: number, { instant }: Pick<CoarseClock, 'instant'>, epoch: number): boolean {
    return instant < (this.#due[row] as number) && (epoch === 0 || this.#judged?.[row] === epoch >>> 0);
  }

  value(row: number): V {
    return this.#values[row] as V;
  }

  key(id: KeyId, row: number): K {
    return this.#keys === undefined ? (id as K) : (this.#keys[row] as K);
  }

  /** When an entry that sleeps is due; `-Infinity` also for one that is awake. */
  dueAt(row: number): number {
    return this.#due[row] as number;
  }

  /** The epoch up to which an entry that sleeps was judged: of its last 32 bits and the present one. */
  validatedEpoch(row: number, epoch: number): number {
    return epoch - ((epoch - (this.#judged?.[row] ?? 0)) >>> 0);
  }

  judge(row: number, epoch: number): void {
    if (epoch > 0) this.#judged ??= new Uint32Array(this.#due.length);
    if (this.#judged !== undefined) this.#judged[row] = epoch;
  }

  tags(row: number): readonly string[] | undefined {
    return this.#extras?.[row]?.tags;
  }

  /** Makes an entry that sleeps due at once. */
  invalidate(row: number): void {
    this.#due[row] = Number.NEGATIVE_INFINITY;
  }

  delete(id: KeyId): boolean {
    return this.#rows.delete(id);
  }

  /** All keys with their rows, the least recently used first. */
  rows(): Iterable<[KeyId, number]> {
    return this.#rows.rentries();
  }

  /**
   * Gives an entry its place with its value. It counts as used now where the place is new; its times are not kept
   * until it is put to {@link sleep}.
   *
   * @returns the row; `undefined` when it is larger than all that may be held.
   */
  place(entry: KeyedEntry<K, V>): number | undefined {
    const { id, size } = entry;
    let row = this.find(id);
    const isResized = this.#isSized && this.#rows.info(id)?.size !== size;
    if (row === undefined || isResized) {
      row = this.#take();
      this.#rows.set(id, row, this.#isSized ? { size } : {});
      if (this.find(id) !== row) {
        this.#release(row);
        return undefined;
      }
      if (this.#keys !== undefined) this.#keys[row] = entry.key;
    }
    this.#values[row] = entry.value;
    this.invalidate(row);
    return row;
  }

  /** Writes down all that is to be known of an entry, which may be forgotten then. */
  sleep(row: number, entry: KeyedEntry<K, V>): void {
    const { dueAt, loadedAt, clockOffset } = entry;
    const last = entry.last as Execution;
    const cell = row * CELLS;
    this.#due[row] = entry.isInvalidated ? Number.NEGATIVE_INFINITY : dueAt;
    this.judge(row, entry.validatedEpoch);
    this.#took[row] = last.endedAt - last.startedAt;
    this.#cells[cell + LOADED] = loadedAt;
    this.#cells[cell + OFFSET] = clockOffset;
    this.#cells[cell + NAMED] = last.dueAt ?? Number.NaN;
    if (this.#versions !== undefined) this.#versions[row] = versionOf(entry);
    const extra = this.#extraOf(entry, last);
    if (extra !== undefined) this.#extras ??= [];
    if (this.#extras !== undefined) this.#extras[row] = extra;
  }

  /** The entry that sleeps in that row. */
  wake(id: KeyId, row: number, epoch: number): KeyedEntry<K, V> {
    const cell = row * CELLS;
    const at = (which: number): number => this.#cells[cell + which] as number;
    const extra = this.#extras?.[row];
    const entry = new KeyedEntry<K, V>(this.key(id, row), id, this.validatedEpoch(row, epoch));
    const offset = at(OFFSET);
    const endedAt = instant(at(LOADED) + offset);
    const dueAt = this.dueAt(row);
    entry.isLoaded = true;
    entry.value = this.value(row);
    entry.promise = Promise.resolve(entry.value as V);
    entry.loadedAt = at(LOADED);
    entry.dueAt = dueAt;
    entry.isInvalidated = dueAt === Number.NEGATIVE_INFINITY;
    entry.clockOffset = offset;
    entry.maxStalenessMs = extra?.maxStalenessMs ?? this.#policy.maxStalenessMs;
    entry.maxStalenessOverrideMs = extra?.maxStalenessOverrideMs;
    entry.nextExecuteTime = extra?.nextExecuteTime ?? instant(dueAt + offset);
    entry.isScheduled = (extra?.isScheduled ?? true) && !entry.isInvalidated;
    entry.scheduledFor = extra === undefined ? finite(entry.nextExecuteTime) : extra.scheduledFor;
    entry.tags = extra?.tags;
    if (this.#isSized) entry.size = (this.#rows.info(id) as { size: number }).size;
    if (this.#versions !== undefined) setVersion(entry, this.#versions[row] as number);
    entry.last = {
      startedAt: endedAt - (this.#took[row] as number),
      endedAt,
      since: extra?.since ?? endedAt,
      now: endedAt,
      dueAt: finite(at(NAMED)),
      outcome: extra?.outcome ?? 'loaded',
      result: entry.value,
      headers: extra?.headers,
      random: this.#policy.random,
    };
    return entry;
  }

  #extraOf(entry: KeyedEntry<K, V>, last: Execution): Extra | undefined {
    const { tags, maxStalenessMs, maxStalenessOverrideMs, isScheduled, scheduledFor, nextExecuteTime } =
      entry;
    const { outcome, since = last.endedAt, headers } = last;
    const isPlain =
      tags === undefined &&
      headers === undefined &&
      outcome === 'loaded' &&
      maxStalenessOverrideMs === undefined &&
      maxStalenessMs === this.#policy.maxStalenessMs &&
      isScheduled &&
      scheduledFor === finite(nextExecuteTime) &&
      since === last.endedAt;
    if (isPlain) return undefined;
    return {
      tags,
      headers,
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
    const row = this.#free.pop() ?? this.#used++;
    if (row >= this.#due.length) {
      // The one that comes has its row before the one that goes gives up his.
      const most = Math.max(this.#maxRows + 1, row + 1);
      const capacity = Math.min(Math.max(FIRST_CAPACITY, 2 * this.#due.length), most);
      this.#due = grown(new Float64Array(capacity), this.#due);
      if (this.#judged !== undefined) this.#judged = grown(new Uint32Array(capacity), this.#judged);
      this.#cells = grown(new Float64Array(CELLS * capacity), this.#cells);
      this.#took = grown(new Float32Array(capacity), this.#took);
      if (this.#versions !== undefined) this.#versions = grown(new Float64Array(capacity), this.#versions);
      this.#values.length = capacity;
    }
    return row;
  }

  #release(row: number): void {
    this.#values[row] = undefined;
    if (this.#extras !== undefined) this.#extras[row] = undefined;
    if (this.#keys !== undefined) this.#keys[row] = undefined as K;
    this.#free.push(row);
  }
}

function grown<A extends Float64Array | Float32Array | Uint32Array>(larger: A, smaller: A): A {
  larger.set(smaller);
  return larger;
}

function versionOf({ shared }: KeyedEntry<unknown, unknown>): number {
  if (shared === undefined) return 0;
  return shared.isLocal ? -1 - shared.version : shared.version;
}

function setVersion(entry: KeyedEntry<unknown, unknown>, version: number): void {
  if (version === 0) return;
  const shared = sharedOf(entry);
  shared.isLocal = version < 0;
  shared.version = version < 0 ? -1 - version : version;
}

/** The wall clock is read in whole milliseconds; what sums of floats add to them is taken off again. */
function instant(sum: number): number {
  return Number.isFinite(sum) ? Math.round(sum * 1000) / 1000 : sum;
}

function finite(instantOrNone: number): number | undefined {
  return Number.isFinite(instantOrNone) ? instantOrNone : undefined;
}
