/** Records are forgotten in steps of this length, in milliseconds. */
const STEP_MS = 60_000;

/** The most names that one change looks at, so that no caller waits for a million of them. */
const MOST_AT_ONCE = 1000;

/**
 * Records by name. Some may be forgotten after a while, at the earliest at the instant that they name themselves: up to a
 * minute later, the next change forgets them. There are no timers.
 */
export class ExpiringMap<R> {
  readonly #records: Map<string, R> = new Map();
  readonly #forgetAt: (record: R) => number;
  /** Names whose records may be forgotten, by the end of the minute of that instant; each name once. */
  readonly #steps: Map<number, string[]> = new Map();
  readonly #listed: Set<string> = new Set();
  #soonest = Infinity;

  /** @param forgetAt the instant of a record on the caller's clock; `Infinity`: never. */
  constructor(forgetAt: (record: R) => number) {
    this.#forgetAt = forgetAt;
  }

  get(name: string): R | undefined {
    return this.#records.get(name);
  }

  names(): string[] {
    return [...this.#records.keys()];
  }

  set(name: string, record: R, now: number): void {
    this.#records.set(name, record);
    this.#list(name, record);
    for (let left = MOST_AT_ONCE; this.#soonest <= now && left > 0; ) left -= this.#forget(left, now);
  }

  delete(name: string): boolean {
    return this.#records.delete(name);
  }

  /** A name that is listed already is looked at when its earlier instant has come. */
  #list(name: string, record: R): void {
    const at = this.#forgetAt(record);
    if (at === Infinity || this.#listed.has(name)) return;
    this.#listed.add(name);
    const step = Math.ceil(at / STEP_MS) * STEP_MS;
    const names = this.#steps.get(step);
    if (names === undefined) this.#steps.set(step, [name]);
    else names.push(name);
    this.#soonest = Math.min(this.#soonest, step);
  }

  /** Looks at no more names than that, of one step. @returns at how many; at least 1. */
  #forget(most: number, now: number): number {
    const step = this.#soonest;
    const left = this.#steps.get(step) as string[];
    const names = left.splice(-most);
    for (const name of names) {
      this.#listed.delete(name);
      const record = this.#records.get(name);
      if (record === undefined) continue;
      if (this.#forgetAt(record) <= now) this.#records.delete(name);
      else this.#list(name, record); // written again since
    }
    if (left.length === 0) {
      this.#steps.delete(step);
      this.#soonest = Infinity;
      for (const next of this.#steps.keys()) this.#soonest = Math.min(this.#soonest, next);
    }
    return names.length;
  }
}
