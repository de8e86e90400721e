/** How many requests an operator may send at once, and how many a second from then on. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** More operators than this are not told apart: the one that was seen first is forgotten. */
const MOST_OPERATORS = 1000;

/** Bounds the requests of each operator, by a bucket of tokens. Holds no timer. */
export class Rates {
  readonly #rate: Rate;
  readonly #buckets: Map<string, { left: number; at: number }> = new Map();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * Takes one request into account. @returns 0: it may go on; else in how many seconds one may.
   *
   * @param now the monotonic clock in milliseconds.
   */
  take(by: string, now: number): number {
    const { burst, perSecond } = this.#rate;
    const bucket = this.#buckets.get(by) ?? { left: burst, at: now };
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    this.#buckets.delete(by);
    this.#buckets.set(by, { left: left >= 1 ? left - 1 : left, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_OPERATORS && oldest !== undefined) this.#buckets.delete(oldest);
    return left >= 1 ? 0 : Math.ceil((1 - left) / perSecond);
  }
}
