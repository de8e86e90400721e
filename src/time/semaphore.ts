/**
 * Lets so many through at a time, the others in the order they came. A pool of ten connections that is asked for a
 * thousand leases at once answers the last so late that it counts as unavailable.
 */
export class Gate {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Does something when it is its turn. */
  async through<R>(action: () => Promise<R>): Promise<R> {
    if (this.#inside >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
