import { isImportAwaited } from '../../../src/data/late-import.ts';

/** A planned event. */
export interface Happening {
  readonly at: number;
  readonly happen: () => void;
}

/**
 * Virtual time: planned events in order. Of two events at the same instant the one that was planned first comes first.
 */
export class Timeline {
  /** Milliseconds since the beginning of the world. */
  now: number = 0;
  /** The last one is the next event. */
  readonly #ahead: Happening[] = [];

  plan(inMs: number, happen: () => void): Happening {
    const happening = { at: this.now + Math.max(0, inMs), happen };
    let low = 0;
    let high = this.#ahead.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ahead[middle] as Happening).at > happening.at) low = middle + 1;
      else high = middle;
    }
    this.#ahead.splice(low, 0, happening);
    return happening;
  }

  cancel(happening: Happening): void {
    const index = this.#ahead.indexOf(happening);
    if (index >= 0) this.#ahead.splice(index, 1);
  }

  /** The instant of the next event; `Infinity`: none. */
  get next(): number {
    return this.#ahead.at(-1)?.at ?? Infinity;
  }

  /** Runs the next event and its immediate consequences: all microtasks, and an import. */
  async step(): Promise<void> {
    const next = this.#ahead.pop();
    if (next === undefined) return;
    this.now = Math.max(this.now, next.at); // a timer of a slow clock may have moved it a rounding error ahead
    next.happen();
    do await new Promise((resolve) => setImmediate(resolve));
    while (isImportAwaited());
  }
}
