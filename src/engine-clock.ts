import type { Clock, Timer } from './clock.ts';

/**
 * The clocks of a member of a cluster: durations by this machine's monotonic clock, the wall clock by the engine of its
 * lock, as learnt at the last answer. So instances whose wall clocks differ by hours agree on when it is five o'clock.
 * Before the first answer it is this machine's.
 */
export class EngineClock implements Clock {
  /** This machine's. */
  readonly base: Clock;
  #offset: number | undefined;

  constructor(base: Clock) {
    this.base = base;
  }

  now(): number {
    return this.#offset === undefined ? this.base.now() : Math.round(this.base.monotonic() + this.#offset);
  }

  monotonic(): number {
    return this.base.monotonic();
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    return this.base.setTimeout(callback, delayMs);
  }

  /** The engine has just said what its wall clock shows, in epoch milliseconds. */
  learn(engineNow: number): void {
    if (Number.isFinite(engineNow)) this.#offset = engineNow - this.base.monotonic();
  }
}
