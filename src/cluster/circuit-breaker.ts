import type { ResolvedOptions } from '../options/resolve-options.ts';

/**
 * What can't be asked for the moment: a lock, a store. It is left alone for a cool-down after each attempt, or the loads
 * of many keys would wait for it one by one.
 */
export class Outage<E extends Error> {
  readonly #policy: ResolvedOptions;
  #error: E | undefined;
  #restsUntil: number = Number.NEGATIVE_INFINITY;

  constructor(policy: ResolvedOptions) {
    this.#policy = policy;
  }

  /** Why it could not be asked the last time; `undefined`: it answered. */
  get error(): E | undefined {
    return this.#error;
  }

  /** Milliseconds for which it is left alone; 0: it may be asked. */
  get restsFor(): number {
    if (this.#error === undefined) return 0;
    return Math.max(0, this.#restsUntil - this.#policy.clock.monotonic());
  }

  began(error: E): void {
    this.#error = error;
    this.rest();
  }

  /** Nobody else asks for a while. */
  rest(): void {
    this.#restsUntil = this.#policy.clock.monotonic() + this.#policy.coolDown.initialMs;
  }

  over(): void {
    this.#error = undefined;
  }
}
