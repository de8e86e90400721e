import { type Clock, systemClock, type Timer } from '../time/clock.ts';
import { clockStep } from '../time/clock-step.ts';

/** An answer that took longer says little of what time it is now. */
const LONGEST_ROUND_TRIP_MS = 1000;

/**
 * The clocks of a member of a cluster: durations by this machine's monotonic clock, the wall clock by the engine of its
 * lock, as learnt at the last answer. So instances whose wall clocks differ by hours agree on when it is five o'clock.
 * Before the first answer it is this machine's.
 *
 * When this machine's clocks have moved against each other since, either its wall clock was stepped, or it slept and its
 * monotonic clock stood still. Which, the next answer tells; until then it is taken for a sleep.
 */
export class ServerClock implements Clock {
  /** This machine's. */
  readonly base: Clock;
  /** The very function of the system clock where that is the base: coarse clocks know it by that. */
  readonly monotonic: () => number;
  #learnt: { readonly offset: number; readonly ownOffset: number } | undefined;

  constructor(base: Clock) {
    this.base = base;
    this.monotonic = base === systemClock ? base.monotonic : () => base.monotonic();
  }

  now(): number {
    if (this.#learnt === undefined) return this.base.now();
    const { offset, ownOffset } = this.#learnt;
    const now = this.base.monotonic();
    return Math.round(now + offset + clockStep(ownOffset, this.base.now() - now));
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    return this.base.setTimeout(callback, delayMs);
  }

  /**
   * The engine has said what its wall clock shows, in epoch milliseconds.
   *
   * @param askedAt when it was asked (monotonic).
   */
  learn(engineNow: number, askedAt: number): void {
    const now = this.base.monotonic();
    const roundTrip = now - askedAt;
    const isUncertain = this.#learnt !== undefined && roundTrip > LONGEST_ROUND_TRIP_MS;
    if (!Number.isFinite(engineNow) || isUncertain) return;
    this.#learnt = { offset: engineNow - (now - roundTrip / 2), ownOffset: this.base.now() - now };
  }
}
