/** Lets so many go on at a time, the others in the order they came. Who gives up waiting loses his place. */
export class Turns {
  readonly #waiting: Set<() => void> = new Set();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** Resolves when it is one's turn. Rejects with the reason of the signal when that is aborted before. */
  async take(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason);
      };
      this.#waiting.add(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** To be called once for each turn that was taken. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
