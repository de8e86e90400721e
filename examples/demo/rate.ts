/** How quickly a count grows. */
export class Rate {
  #count = 0;
  #at = performance.now();

  /** @param count now. @returns per second, since the last time that it was asked. */
  perSecond(count: number): number {
    const now = performance.now();
    const rate = (count - this.#count) / ((now - this.#at) / 1000);
    this.#count = count;
    this.#at = now;
    return rate;
  }
}
