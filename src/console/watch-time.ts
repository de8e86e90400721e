/** How long one turn of the event loop may take, in milliseconds. */
const SLICE_MS = 5;

/** Which part of the time is spent on those who watch, however many they are. */
const SHARE = 0.08;

/** As much may be done at once, in milliseconds: a small group is shown as it is now. */
const BURST_MS = 50;

/** The time that is spent on those who watch: in short turns, and no more than a share of all. */
export class WatchTime {
  /** When the work until now is no more than its share, by the monotonic clock. */
  #paidAt = 0;

  /** How long it is until more may be done, in milliseconds; 0: now. */
  get waitMs(): number {
    return Math.max(0, this.#paidAt - BURST_MS / SHARE - performance.now());
  }

  /** Work of one turn. */
  turn<T>(work: () => T): T {
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.#paidAt = Math.max(this.#paidAt, begun) + (performance.now() - begun) / SHARE;
    }
  }

  /** Work of one turn. Others have their turn before it is returned, where it took long. */
  async step<T>(work: () => T): Promise<T> {
    const begun = performance.now();
    const done = this.turn(work);
    if (performance.now() - begun >= SLICE_MS / 2) await nextTurn();
    return done;
  }

  /** Work on each of many, in slices: others have their turn meanwhile. */
  async each<From, To>(all: Iterable<From>, make: (one: From) => To): Promise<To[]> {
    const made: To[] = [];
    const rest = all[Symbol.iterator]();
    const slice = (): boolean => {
      const until = performance.now() + SLICE_MS;
      for (let next = rest.next(); !next.done; next = rest.next()) {
        made.push(make(next.value));
        if (performance.now() >= until) return true;
      }
      return false;
    };
    while (this.turn(slice)) await nextTurn();
    return made;
  }
}

/** Resolves when others have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
