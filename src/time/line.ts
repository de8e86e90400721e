/** Things that wait, first come, first served; each can leave before its turn. No call takes longer for a longer line. */
export class Line<T> {
  readonly #waiting: Set<T> = new Set();
  /** It goes on where it was: a new one would pass the places of all that have left, as long as others wait. */
  #rest: SetIterator<T> = this.#waiting.values();

  get size(): number {
    return this.#waiting.size;
  }

  add(one: T): void {
    this.#waiting.add(one);
  }

  delete(one: T): void {
    this.#waiting.delete(one);
  }

  /** Takes the one that has waited longest; `undefined`: none waits. */
  next(): T | undefined {
    if (this.#waiting.size === 0) return undefined;
    let { done, value } = this.#rest.next();
    if (done) {
      // An iterator that has ended once does not go on with those that came later.
      this.#rest = this.#waiting.values();
      value = this.#rest.next().value;
    }
    this.#waiting.delete(value as T);
    return value;
  }
}
