import type { Coordinator } from '../engine/coordinator.ts';
import type { LastExecution } from '../engine/next-execution.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { CoarseClock } from '../time/coarse-clock.ts';
import { KeyedEntry, type KeyId } from './keyed-entry.ts';

/** Data that few entries have, kept beside the slot. */
type Extra = Pick<LastExecution, 'outcome' | 'since' | 'headers' | 'meta' | 'isLimitScheduled'> &
  Readonly<
    Pick<
      KeyedEntry<unknown, unknown>,
      | 'tags'
      | 'maxStalenessMs'
      | 'maxStalenessOverrideMs'
      | 'isScheduled'
      | 'scheduledFor'
      | 'nextExecuteTime'
    >
  >;

/** The cells of a slot that a fresh read does not need. */
const CELLS = 3;
/** When it was loaded (monotonic). */
const LOADED = 0;
/** Wall clock minus monotonic clock when the instants were taken. */
const OFFSET = 1;
/** The schedule's time of the last execution, epoch milliseconds; NaN: none. */
const NAMED = 2;

const FIRST_CAPACITY = 64;

/**
 * The columns of the table of passive entries, by the number of the slot. An entry is an object of 30 fields, beside key and
 * id; here it is a few numbers and its value, a fifth of that. A fresh read needs two of the columns and the value.
 */
export class SlotColumns<K, V> {
  readonly #options: ResolvedOptions;
  readonly #coordinator: Coordinator | undefined;
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
  #extras: (Extra | undefined)[] | undefined;

  constructor(options: ResolvedOptions, coordinator: Coordinator | undefined) {
    this.#options = options;
    this.#coordinator = coordinator;
    this.#versions = coordinator && new Float64Array(0);
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
    this.#due[slot] = -Infinity;
  }

  /** Stores the value of an active entry, or of one that {@link passivate} follows. */
  putValue(slot: number, value: V | undefined): void {
    this.#values[slot] = value;
    this.invalidate(slot); // reads find the active entry
  }

  /** Stores all of an entry, whose object may be dropped then. */
  passivate(slot: number, entry: KeyedEntry<K, V>): void {
    const { dueAt, loadedAt, clockOffset } = entry;
    const last = entry.last as LastExecution;
    const cell = slot * CELLS;
    this.#due[slot] = entry.isInvalidated ? -Infinity : dueAt;
    this.validate(slot, entry.validatedEpoch);
    this.#took[slot] = last.endedAt - last.startedAt;
    this.#cells[cell + LOADED] = loadedAt;
    this.#cells[cell + OFFSET] = clockOffset;
    this.#cells[cell + NAMED] = last.dueAt ?? NaN;
    if (this.#versions !== undefined)
      this.#versions[slot] = (this.#coordinator as Coordinator).packVersion(entry);
    const extra = this.#extraOf(entry, last);
    if (extra !== undefined) this.#extras ??= [];
    if (this.#extras !== undefined) this.#extras[slot] = extra;
  }

  /** As `activate` of the table. */
  activate(id: KeyId, key: K, slot: number, epoch: number): KeyedEntry<K, V> {
    const cell = slot * CELLS;
    const loadedAt = this.loadedAt(slot);
    const extra = this.#extras?.[slot];
    const { maxStalenessMs = this.#options.maxStalenessMs } = extra ?? {};
    const validated = this.validatedEpoch(slot, epoch);
    const entry = new KeyedEntry<K, V>(key, id, validated, maxStalenessMs);
    const offset = this.#cells[cell + OFFSET] as number;
    const endedAt = instant(loadedAt + offset);
    const dueAt = this.dueAt(slot);
    entry.putValue(this.value(slot));
    entry.loadedAt = loadedAt;
    entry.setDue(dueAt, Infinity); // to be checked by its first read
    entry.isInvalidated = dueAt === -Infinity;
    entry.clockOffset = offset;
    entry.maxStalenessOverrideMs = extra?.maxStalenessOverrideMs;
    entry.nextExecuteTime = extra?.nextExecuteTime ?? instant(dueAt + offset);
    entry.isScheduled = (extra?.isScheduled ?? true) && !entry.isInvalidated;
    entry.scheduledFor = extra === undefined ? finite(entry.nextExecuteTime) : extra.scheduledFor;
    entry.describe(entry.size, extra?.tags);
    if (this.#versions !== undefined) {
      (this.#coordinator as Coordinator).unpackVersion(entry, this.#versions[slot] as number);
    }
    entry.last = {
      startedAt: endedAt - (this.#took[slot] as number),
      endedAt,
      since: extra?.since ?? endedAt,
      now: endedAt,
      dueAt: finite(this.#cells[cell + NAMED] as number),
      outcome: extra?.outcome ?? 'loaded',
      result: entry.value,
      headers: extra?.headers,
      random: this.#options.random,
      meta: extra?.meta,
      isLimitScheduled: extra?.isLimitScheduled ?? false,
    };
    return entry;
  }

  #extraOf(entry: KeyedEntry<K, V>, last: LastExecution): Extra | undefined {
    const { tags, maxStalenessMs, maxStalenessOverrideMs, isScheduled, scheduledFor, nextExecuteTime } =
      entry;
    const { outcome, since, headers, meta, isLimitScheduled } = last;
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
      isLimitScheduled,
      outcome,
      maxStalenessOverrideMs,
      maxStalenessMs,
      isScheduled,
      scheduledFor,
      nextExecuteTime,
      since,
    };
  }

  /** Makes room for a slot. @param most how many slots there may be. */
  makeRoom(slot: number, most: number): void {
    if (slot < this.#due.length) return;
    const capacity = Math.min(Math.max(FIRST_CAPACITY, 2 * this.#due.length), Math.max(most, slot + 1));
    this.#due = grown(new Float64Array(capacity), this.#due);
    if (this.#validated !== undefined) this.#validated = grown(new Uint32Array(capacity), this.#validated);
    this.#cells = grown(new Float64Array(CELLS * capacity), this.#cells);
    this.#took = grown(new Float32Array(capacity), this.#took);
    if (this.#versions !== undefined) this.#versions = grown(new Float64Array(capacity), this.#versions);
    this.#values.length = capacity;
  }

  /** Forgets what refers to objects. */
  clear(slot: number): void {
    this.#values[slot] = undefined;
    if (this.#extras !== undefined) this.#extras[slot] = undefined;
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
