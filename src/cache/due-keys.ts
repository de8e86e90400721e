import { DueHeap } from '../due/due-heap.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../due/refreshable.ts';
import { startableFrom } from '../engine/decide.ts';
import { waitersOf } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { EntryObserver, KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import type { ManyKeys } from './many-keys.ts';

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

/** A due reload takes along what falls due within this share of the time of its key. */
const AHEAD_RATIO = 0.1;

/**
 * The due times of the keys of a cache. They are known only once keys are to be started without a read of their own: in a
 * group, after `requestStart`, or where a due reload takes other keys along.
 */
export class DueKeys<K, V> implements EntryObserver<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #many: ManyKeys<K, V>;
  readonly #engine: MemberEngine<V>;
  readonly #perLoad: number;
  readonly #all: Starter[] = [];
  readonly #heap: DueHeap = new DueHeap();
  /** The identity of the key of each slot. */
  // Stryker disable next-line ArrayDeclaration: it is read only for slots that were written.
  readonly #ids: KeyId[] = [];
  readonly #started: Map<KeyedEntry<K, V>, Started> = new Map();
  /** The keys that were started in the present pass, with the instant after which they may be started again. */
  readonly #inPass: Map<KeyId, number> = new Map();
  #isToTakeAlong = false;
  /** Keys may be due that are not in the heap. */
  // Stryker disable next-line BooleanLiteral: `join` sets it, and nothing is started before.
  #isToBuild = true;

  /** @param perLoad how many keys one load takes. */
  constructor(entries: KeyedEntries<K, V>, many: ManyKeys<K, V>, engine: MemberEngine<V>, perLoad: number) {
    this.#entries = entries;
    this.#many = many;
    this.#engine = engine;
    this.#perLoad = perLoad;
    if (perLoad > 1) entries.observer = this;
  }

  /** Joins a queue that is to start keys. */
  join(join: (member: Refreshable) => GroupSlot): GroupSlot {
    const slot = join({
      startNext: (start) => this.#startNext(starter, start),
      keepAlive: () => this.#keepAlive(),
      rescan: () => this.#build(),
      compareClocks: () => this.#many.compareClocks(),
    });
    const starter: Starter = { slot, afterPass: -Infinity };
    this.#all.push(starter);
    this.#entries.observer = this;
    this.rebuild();
    return slot;
  }

  rebuild(): void {
    this.#isToBuild = true;
    this.plan();
  }

  markUnscanned(): void {
    for (const { slot } of this.#all) slot.markUnscanned();
  }

  changed(slot: number, entry: KeyedEntry<K, V>): void {
    this.#planKey(slot, entry);
    this.plan();
  }

  ended(entry: KeyedEntry<K, V>): void {
    const started = this.#started.get(entry);
    if (started === undefined) return;
    this.#started.delete(entry);
    started.left -= 1;
    if (started.left === 0) started.ended();
  }

  freed(slot: number): void {
    this.#heap.delete(slot);
    this.plan();
  }

  /** Plans in each queue from when on there is a key to start. While paused none can be, and the queue takes the slot out. */
  plan(): void {
    const from = this.#isToBuild ? -Infinity : this.#heap.soonestAt;
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
    let first: KeyedEntry<K, V> | undefined;
    while (
      started.left <= this.#perLoad &&
      this.#engine.runState === 'open' &&
      this.#heap.soonestAt <= until
    ) {
      const slot = this.#heap.soonest as number;
      this.#heap.delete(slot); // planned anew when it changes, which may be after this call
      this.#useSlot(slot, (entry) => {
        this.ended(entry); // if its load is just settling
        this.#inPass.set(entry.id, afterPass);
        if (!this.#engine.startAhead(entry, until)) return;
        started.left += 1;
        first ??= entry;
        this.#started.set(entry, started);
      });
    }
    if (first !== undefined) this.#takeAlong(first, this.#perLoad - (started.left - 1));
    started.left -= 1;
    this.plan();
    return started.left > 0;
  }

  /** Takes other keys along into the call of a due reload, behind the read that has started it. */
  takeAlong(entry: KeyedEntry<K, V>): void {
    if (this.#isToTakeAlong) return;
    this.#isToTakeAlong = true;
    Promise.resolve().then(() => {
      this.#isToTakeAlong = false;
      this.#takeAlong(entry, this.#perLoad - 1);
    });
  }

  /**
   * Starts the loads of keys that are due, or will be soon, soonest first.
   *
   * After `invalidate()` keys are due that the heap has later. They are not scanned for here: the first of the heap are
   * tried until one may not be started.
   */
  #takeAlong({ dueAt, loadedAt }: KeyedEntry<K, V>, most: number): void {
    if (this.#engine.runState !== 'open') return;
    const aheadMs = dueAt > loadedAt ? AHEAD_RATIO * (dueAt - loadedAt) : 0; // not of an invalidated key
    const now = this.#engine.options.clock.monotonic();
    const passedOver: number[] = [];
    for (let left = most; left > 0; ) {
      const { soonest: slot, soonestAt } = this.#heap;
      if (slot === undefined) break;
      if (this.#useSlot(slot, (entry) => this.#engine.startAhead(entry, now, aheadMs))) left -= 1;
      else {
        passedOver.push(slot);
        if (soonestAt > now + aheadMs) break;
      }
      this.#heap.delete(slot);
    }
    for (const slot of passedOver) if (this.#isInUse(slot)) this.#useSlot(slot, () => {}); // plans it
    this.plan();
  }

  /** A listener may have deleted the key meanwhile. */
  #isInUse(slot: number): boolean {
    return this.#entries.table.find(this.#ids[slot] as KeyId) === slot;
  }

  #useSlot<R>(slot: number, action: (entry: KeyedEntry<K, V>) => R): R {
    const id = this.#ids[slot] as KeyId;
    return this.#entries.useId(id, this.#entries.table.key(id, slot), action);
  }

  #planKey(slot: number, entry: KeyedEntry<K, V>): void {
    this.#ids[slot] = entry.id;
    const from = startableFrom(entry);
    this.#heap.set(slot, Math.max(from, this.#inPass.get(entry.id) ?? -Infinity));
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
