import { DueHeap } from '../due/due-heap.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../due/refreshable.ts';
import { startableFrom } from '../engine/decide.ts';
import { waitersOf } from '../engine/entry.ts';
import type { Refresher } from '../engine/refresher.ts';
import type { DueTimes, KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** Keys that were started together, and count as one load. */
interface Started {
  readonly ended: () => void;
  left: number;
}

/** A queue that starts keys: that of a group, or that of the cache's own `requestStart`. */
interface Starter {
  readonly slot: GroupSlot;
  /** When the keys that were started in the last pass may be started again. */
  afterPass: number;
}

/** The due times of the keys of a cache. It exists only once keys are to be started without a read. */
export class DueKeys<K, V> implements DueTimes<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #refresher: Refresher<V>;
  /** How many keys one load takes. */
  readonly #perLoad: number;
  readonly #all: Starter[] = [];
  readonly #heap: DueHeap = new DueHeap();
  /** The identity of the key of each slot. */
  // Stryker disable next-line ArrayDeclaration: it is read only for slots that were written.
  readonly #ids: KeyId[] = [];
  readonly #started: Map<KeyedEntry<K, V>, Started> = new Map();
  /** The keys that were started in the present pass, with the instant after which they may be started again. */
  readonly #inPass: Map<KeyId, number> = new Map();
  #lookAheadMs = 0;
  /** Keys may be due that are not in the heap. */
  // Stryker disable next-line BooleanLiteral: `join` sets it, and nothing is started before.
  #isToBuild = true;

  constructor(entries: KeyedEntries<K, V>, refresher: Refresher<V>, perLoad: number) {
    this.#entries = entries;
    this.#refresher = refresher;
    this.#perLoad = perLoad;
  }

  /** Joins a queue that is to start keys. */
  join(join: (member: Refreshable) => GroupSlot): GroupSlot {
    const slot = join({
      startNext: (start) => this.#startNext(starter, start),
      keepAlive: () => this.#keepAlive(),
      rescan: () => this.#build(),
      compareClocks: () => this.#entries.compareClocks(),
    });
    const starter: Starter = { slot, afterPass: Number.NEGATIVE_INFINITY };
    this.#all.push(starter);
    this.#lookAheadMs = Math.max(this.#lookAheadMs, slot.lookAheadMs);
    this.rebuild();
    return slot;
  }

  /** All keys have to be scanned before the next start. */
  rebuild(): void {
    this.#isToBuild = true;
    this.plan();
  }

  /** Keys may be due that are not in the heap; reads are not to pay for the scan. */
  markUnscanned(): void {
    for (const { slot } of this.#all) slot.markUnscanned();
  }

  /** A key with a slot has changed. */
  changed(slot: number, entry: KeyedEntry<K, V>): void {
    this.#planKey(slot, entry);
    this.plan();
  }

  /** The key has no load under way any longer. */
  ended(entry: KeyedEntry<K, V>): void {
    const started = this.#started.get(entry);
    if (started === undefined) return;
    this.#started.delete(entry);
    started.left -= 1;
    if (started.left === 0) started.ended();
  }

  /** The slot belongs to another key, or to none. */
  freed(slot: number): void {
    this.#heap.delete(slot);
    this.plan();
  }

  /** Plans in each queue from when on there is a key to start. While paused none can be, and the queue takes the slot out. */
  plan(): void {
    const from = this.#isToBuild ? Number.NEGATIVE_INFINITY : this.#heap.soonestAt;
    for (const { slot } of this.#all) slot.plan(from);
  }

  leave(): void {
    for (const { slot } of this.#all) slot.leave();
  }

  #startNext(starter: Starter, { until, ended }: StartOfOne): boolean {
    const afterPass = starter.slot.afterPass();
    // Stryker disable next-line ConditionalExpression,EqualityOperator,BlockStatement: older instants have passed; this frees the memory.
    if (starter.afterPass !== afterPass) {
      starter.afterPass = afterPass;
      this.#inPass.clear();
    }
    if (this.#isToBuild) this.#build();
    // One more, so that loads which end at once can't end the whole before all are started.
    const started: Started = { ended, left: 1 };
    while (
      started.left <= this.#perLoad &&
      this.#refresher.runState === 'open' &&
      this.#heap.soonestAt <= until
    ) {
      const slot = this.#heap.soonest as number;
      const id = this.#ids[slot] as KeyId;
      this.#heap.delete(slot); // planned anew when it changes, which may be after this call
      this.#entries.useId(id, this.#entries.table.key(id, slot), (entry) => {
        this.ended(entry); // if its load is just settling
        this.#inPass.set(id, afterPass);
        if (!this.#refresher.startAhead(entry, until, this.#lookAheadMs)) return;
        started.left += 1;
        this.#started.set(entry, started);
      });
    }
    started.left -= 1;
    this.plan();
    return started.left > 0;
  }

  #planKey(slot: number, entry: KeyedEntry<K, V>): void {
    this.#ids[slot] = entry.id;
    const from = startableFrom(entry, this.#lookAheadMs);
    this.#heap.set(slot, Math.max(from, this.#inPass.get(entry.id) ?? Number.NEGATIVE_INFINITY));
  }

  /** The process lives until the loads that were started here have ended. */
  #keepAlive(): void {
    for (const entry of this.#started.keys()) if (entry.flight !== undefined) void waitersOf(entry).end();
  }

  #build(): void {
    this.#isToBuild = false;
    for (const [slot, entry] of this.#entries.eachLoaded()) this.#planKey(slot, entry);
    this.plan();
  }
}
