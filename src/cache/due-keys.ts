import { startableFrom } from '../executor/decide.ts';
import { DueHeap } from '../executor/due-heap.ts';
import type { Refresher } from '../executor/refresher.ts';
import type { Seat, Startable } from '../membership.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry } from './keyed-entry.ts';

/** Keys that were started together, and count as one load. */
interface Started {
  readonly seat: Seat;
  left: number;
}

/**
 * Which keys of a cache fall due when. It is kept only for who starts keys that nobody reads: a group, or the cache's
 * own `requestStart`.
 */
export class DueKeys<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #refresher: Refresher<V>;
  /** So many keys make one load. */
  readonly #perLoad: number;
  readonly #seats: Seat[] = [];
  readonly #heap: DueHeap = new DueHeap();
  /** By row. */
  readonly #keys: K[] = [];
  readonly #started: Map<KeyedEntry<K, V>, Started> = new Map();
  /** Keys may be due that the heap does not know to be. */
  #isToBuild = true;

  constructor(entries: KeyedEntries<K, V>, refresher: Refresher<V>, perLoad: number) {
    this.#entries = entries;
    this.#refresher = refresher;
    this.#perLoad = perLoad;
  }

  /** Takes a seat with who is to start keys. */
  join(join: (member: Startable) => Seat): Seat {
    const seat = join({
      startNext: (until, hold) => this.#startNext(seat, until, hold),
      compareClocks: () => this.#entries.compareClocks(),
    });
    this.#seats.push(seat);
    this.rebuild();
    return seat;
  }

  /** The keys have to be looked at one by one before the next is started. */
  rebuild(): void {
    this.#isToBuild = true;
    this.plan();
  }

  /** Something has changed about a key that has a row. */
  changed(row: number, entry: KeyedEntry<K, V>): void {
    this.#keys[row] = entry.key;
    this.#heap.set(row, startableFrom(entry, this.#lookAheadMs));
    this.plan();
  }

  /** It has no load under way any more. */
  ended(entry: KeyedEntry<K, V>): void {
    const started = this.#started.get(entry);
    if (started === undefined) return;
    this.#started.delete(entry);
    started.left -= 1;
    if (started.left === 0) started.seat.ended();
  }

  freed(row: number): void {
    this.#heap.delete(row);
    this.#keys[row] = undefined as K;
  }

  plan(): void {
    const from = this.#isToBuild ? Number.NEGATIVE_INFINITY : this.#heap.soonestAt;
    for (const seat of this.#seats) seat.plan(this.#refresher.gate === 'open' ? from : Infinity);
  }

  leave(): void {
    for (const seat of this.#seats) seat.leave();
  }

  get #lookAheadMs(): number {
    return Math.max(...this.#seats.map((seat) => seat.lookAheadMs));
  }

  #startNext(seat: Seat, until: number, hold: boolean): boolean {
    if (this.#isToBuild) this.#build();
    // One more, so that those which end at once can't end the whole before all are started.
    const started: Started = { seat, left: 1 };
    while (started.left <= this.#perLoad && this.#heap.soonestAt <= until) {
      const row = this.#heap.soonest as number;
      this.#heap.delete(row); // planned anew when it ends, or is read
      this.#entries.use(this.#keys[row] as K, (entry) => {
        if (!this.#refresher.startAhead(entry, hold) || entry.flight === undefined) return;
        started.left += 1;
        this.#started.set(entry, started);
      });
    }
    started.left -= 1;
    this.plan();
    return started.left > 0;
  }

  #build(): void {
    this.#isToBuild = false;
    for (const [row, entry] of this.#entries.eachLoaded()) {
      this.#keys[row] = entry.key;
      this.#heap.set(row, startableFrom(entry, this.#lookAheadMs));
    }
  }
}
