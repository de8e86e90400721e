/** What has happened, in order, for people. */
export class News {
  readonly #items: string[] = [];
  readonly #startedAt: number;
  readonly #onItem: (item: string) => void;

  /**
   * @param startedAt when the run has begun (`performance.now()`).
   * @param onItem is told each item at once.
   */
  constructor(startedAt: number, onItem: (item: string) => void) {
    this.#startedAt = startedAt;
    this.#onItem = onItem;
  }

  add(text: string): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const item = `${seconds.toFixed(1).padStart(5)} s  ${text}`;
    this.#items.push(item);
    this.#onItem(item);
  }

  /** The last ones, the latest at the end. */
  last(count: number): string[] {
    return this.#items.slice(-count);
  }
}
