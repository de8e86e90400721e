import type { Clock } from '../dist/index.js';

/** A manual clock that moves both clocks together. It has no timers. */
export class HandClock implements Clock {
  #monotonic = 0;

  advance(ms: number): void {
    this.#monotonic += ms;
  }

  now(): number {
    return Date.UTC(2026, 0, 1) + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimeout(): never {
    throw new Error('a load that is asynchronous and has no deadline needs no timer');
  }
}
