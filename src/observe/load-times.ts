/** How long loads took: a histogram. */
export interface LoadTimes {
  /** How many loads it has. */
  readonly count: number;
  /** All of them together, in milliseconds. */
  readonly total: number;
  /** The longest one, in milliseconds; 0: there was none. */
  readonly longest: number;
  /** Each has the loads that took up to `upTo` milliseconds, and longer than those of the bucket before; the last is `Infinity`. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

/** From a memory read to a slow export, at most a factor of 2.5 apart; in milliseconds. */
const BOUNDS: readonly number[] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, Infinity];

/** Counts loads by their length, in fixed buckets: those of several members or instances add up. */
export class LoadTimeCounter {
  /** Of each bucket up to the last one that has any. */
  readonly counts: number[] = [];
  total: number = 0;
  longest: number = 0;

  /** @param ms how long it took. */
  add(ms: number): void {
    const bucket = BOUNDS.findIndex((bound) => ms <= bound);
    while (this.counts.length <= bucket) this.counts.push(0);
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.total += ms;
    this.longest = Math.max(this.longest, ms);
  }

  get times(): LoadTimes {
    const { total, longest } = this;
    const buckets = BOUNDS.map((upTo, index) => ({ upTo, count: this.counts[index] ?? 0 }));
    return { count: buckets.reduce((sum, { count }) => sum + count, 0), total, longest, buckets };
  }
}
