/**
 * The jitter of pauses between tries: one random number for each error. The keys of one call of `loadMany` fail with the
 * same error, so their next tries begin together, and come in one call again.
 */
export class RetryJitter {
  readonly #random: () => number;
  readonly #known: WeakMap<WeakKey, number> = new WeakMap();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** From 0 to below 1. */
  after(error: unknown): number {
    if (typeof error !== 'object' || error === null) return this.#random();
    const known = this.#known.get(error) ?? this.#random();
    this.#known.set(error, known);
    return known;
  }
}
