import type { Clock } from '../time/clock.ts';
import { clockStep } from '../time/clock-step.ts';
import { isInstant } from '../time/show-instant.ts';

/** An answer that took longer is too uncertain a reading of the server's clock. */
const LONGEST_ROUND_TRIP_MS = 1000;

/**
 * The wall clock of the server of a lock, from its last answer: instances whose own wall clocks differ by hours agree on
 * when it is five o'clock. Before the first answer it is the wall clock of this machine.
 *
 * If the clocks of this machine have moved against each other since, either its wall clock was stepped, or the machine
 * was suspended and its monotonic clock stopped. The next answer decides between them; until then a suspension is assumed.
 */
export class ServerClock {
  readonly #machine: Clock;
  #reading: { readonly offset: number; readonly machineOffset: number } | undefined;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  now(): number {
    if (this.#reading === undefined) return this.#machine.now();
    const { offset, machineOffset } = this.#reading;
    const now = this.#machine.monotonic();
    return Math.round(now + offset + clockStep(machineOffset, this.#machine.now() - now));
  }

  /**
   * The server has answered with its wall clock, in epoch milliseconds.
   *
   * @param askedAt when it was asked (monotonic).
   */
  learn(serverNow: number, askedAt: number): void {
    const now = this.#machine.monotonic();
    const roundTrip = now - askedAt;
    const isUncertain = this.#reading !== undefined && roundTrip > LONGEST_ROUND_TRIP_MS;
    if (!isInstant(serverNow) || isUncertain) return;
    this.#reading = { offset: serverNow - (now - roundTrip / 2), machineOffset: this.#machine.now() - now };
  }
}
