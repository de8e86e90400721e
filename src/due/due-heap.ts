/**
 * A binary heap of numbered items by the instant at which they fall due, in which an item can be moved
 * or removed (Sedgewick & Wayne, Algorithms, 4th ed., 2.4, "index priority queue"). `soonest` costs one field read,
 * all else O(log n). Items that are never due (`Infinity`) are left out.
 */
export class DueHeap {
  /** The items, each due no later than its two children at 2i + 1 and 2i + 2. */
  readonly #items: number[] = [];
  /** By item: its place among the items, or -1. */
  readonly #places: number[] = [];
  /** By item. */
  readonly #instants: number[] = [];

  /** The instant at which the first falls due; `Infinity`: the heap is empty. */
  soonestAt: number = Infinity;

  get size(): number {
    return this.#items.length;
  }

  /** The item that falls due first, or `undefined`. */
  get soonest(): number | undefined {
    return this.#items[0];
  }

  /** Puts the item in, moves it, or for `Infinity` removes it. @param item a small number from 0. */
  set(item: number, instant: number): void {
    if (instant === Infinity) {
      this.delete(item);
      return;
    }
    while (this.#places.length <= item) {
      this.#places.push(-1);
      this.#instants.push(Infinity);
    }
    this.#instants[item] = instant;
    let place = this.#places[item] as number;
    if (place === -1) place = this.#items.push(item) - 1;
    this.#settle(item, place);
  }

  delete(item: number): void {
    const place = this.#places[item] ?? -1;
    if (place === -1) return;
    this.#places[item] = -1;
    const last = this.#items.pop() as number;
    if (last !== item) this.#settle(last, place);
    else this.#updateSoonest();
  }

  /** Finds the place of an item from where a gap is: up while it is due before its parent, else down. */
  #settle(item: number, gap: number): void {
    const instant = this.#instants[item] as number;
    let place = gap;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#at(parent) <= instant) break;
      this.#put(this.#items[parent] as number, place);
      place = parent;
    }
    for (;;) {
      let child = 2 * place + 1;
      if (child + 1 < this.#items.length && this.#at(child + 1) < this.#at(child)) child += 1;
      if (child >= this.#items.length || this.#at(child) >= instant) break;
      this.#put(this.#items[child] as number, place);
      place = child;
    }
    this.#put(item, place);
    this.#updateSoonest();
  }

  #at(place: number): number {
    return this.#instants[this.#items[place] as number] as number;
  }

  #put(item: number, place: number): void {
    this.#items[place] = item;
    this.#places[item] = place;
  }

  #updateSoonest(): void {
    this.soonestAt = this.#items.length === 0 ? Infinity : this.#at(0);
  }
}
