import { DueHeap } from '../due/due-heap.ts';
import { startableFrom } from '../engine/decide.ts';
import { waitersOf } from '../engine/entry.ts';
import type { Refresher } from '../engine/refresher.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../group/membership.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** Keys that were started together, and count as one load. */
interface Started {
  readonly ended: () => void;
  left: number;
}

/** Who starts keys: a group, or the cache's own `requestStart`. */
interface Starting {
  readonly seat: GroupSlot;
  /** When the keys that were started in the last round may be started again. */
  afterRound: number;
}

/** Which keys of a cache fall due when. It is kept only for who starts keys that nobody reads. */
export class DueKeys<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #refresher: Refresher<V>;
  /** So many keys make one load. */
  readonly #perLoad: number;
  readonly #all: Starting[] = [];
  readonly #heap: DueHeap = new DueHeap();
  /** By row. */
  readonly #ids: KeyId[] = [];
  readonly #started: Map<KeyedEntry<K, V>, Started> = new Map();
  /** The keys that were started in the present round, of each who starts, with the instant after which they may be again. */
  readonly #inRound: Map<KeyId, number> = new Map();
  #lookAheadMs = 0;
  /** Keys may be due that the heap does not know to be. */
  #isToBuild = true;

  constructor(entries: KeyedEntries<K, V>, refresher: Refresher<V>, perLoad: number) {
    this.#entries = entries;
    this.#refresher = refresher;
    this.#perLoad = perLoad;
  }

  /** Takes a seat with who is to start keys. */
  join(join: (member: Refreshable) => GroupSlot): GroupSlot {
    const seat = join({
      startNext: (start) => this.#startNext(starting, start),
      hold: () => this.#hold(),
      look: () => this.#build(),
      compareClocks: () => this.#entries.compareClocks(),
    });
    const starting: Starting = { seat, afterRound: Number.NEGATIVE_INFINITY };
    this.#all.push(starting);
    this.#lookAheadMs = Math.max(this.#lookAheadMs, seat.lookAheadMs);
    this.rebuild();
    return seat;
  }

  /** The keys have to be looked at one by one before the next is started. */
  rebuild(): void {
    this.#isToBuild = true;
    this.plan();
  }

  /** Keys may be due that the heap does not know to be; reads are not to pay for looking. */
  markUnseen(): void {
    for (const { seat } of this.#all) seat.markUnseen();
  }

  /** Something has changed about a key that has a row. */
  changed(row: number, entry: KeyedEntry<K, V>): void {
    this.#planKey(row, entry);
    this.plan();
  }

  /** It has no load under way any more. */
  ended(entry: KeyedEntry<K, V>): void {
    const started = this.#started.get(entry);
    if (started === undefined) return;
    this.#started.delete(entry);
    started.left -= 1;
    if (started.left === 0) started.ended();
  }

  /** The row is given to another key, or to none. */
  freed(row: number): void {
    this.#heap.delete(row);
    this.plan();
  }

  /** Tells who starts keys from when on there is something to start. */
  plan(): void {
    const from = this.#isToBuild ? Number.NEGATIVE_INFINITY : this.#heap.soonestAt;
    for (const { seat } of this.#all) seat.plan(this.#refresher.gate === 'open' ? from : Infinity);
  }

  leave(): void {
    for (const { seat } of this.#all) seat.leave();
  }

  #startNext(starting: Starting, { until, ended }: StartOfOne): boolean {
    const afterRound = starting.seat.afterRound();
    if (starting.afterRound !== afterRound) {
      starting.afterRound = afterRound;
      this.#inRound.clear();
    }
    if (this.#isToBuild) this.#build();
    // One more, so that those which end at once can't end the whole before all are started.
    const started: Started = { ended, left: 1 };
    while (
      started.left <= this.#perLoad &&
      this.#refresher.gate === 'open' &&
      this.#heap.soonestAt <= until
    ) {
      const row = this.#heap.soonest as number;
      const id = this.#ids[row] as KeyId;
      this.#entries.useId(id, this.#entries.shelf.key(id, row), (entry) => {
        this.ended(entry); // should it be just landing
        this.#inRound.set(id, afterRound);
        if (!this.#refresher.startAhead(entry, until, this.#lookAheadMs)) return;
        started.left += 1;
        this.#started.set(entry, started);
      });
      // It can't be started; it is planned anew when something changes about it.
      if (this.#heap.soonest === row && this.#heap.soonestAt <= until) this.#heap.delete(row);
    }
    started.left -= 1;
    this.plan();
    return started.left > 0;
  }

  #planKey(row: number, entry: KeyedEntry<K, V>): void {
    this.#ids[row] = entry.id;
    const from = startableFrom(entry, this.#lookAheadMs);
    this.#heap.set(row, Math.max(from, this.#inRound.get(entry.id) ?? Number.NEGATIVE_INFINITY));
  }

  /** The process is to live until the loads have ended that were started here. */
  #hold(): void {
    for (const entry of this.#started.keys()) if (entry.flight !== undefined) void waitersOf(entry).end();
  }

  #build(): void {
    this.#isToBuild = false;
    for (const [row, entry] of this.#entries.eachLoaded()) this.#planKey(row, entry);
    this.plan();
  }
}
