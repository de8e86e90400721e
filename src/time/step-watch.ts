import type { Clock } from './clock.ts';
import { clockStep } from './clock-step.ts';

/** Reads compare both clocks at least this often, so that a stepped wall clock or a suspended machine is noticed. */
export const CHECK_CLOCKS_EVERY_MS = 60_000;

/** Detects steps of the wall clock for many entries at once: one comparison a minute of reads. */
export class StepWatch {
  /** The first read at or after this instant (monotonic) calls {@link hasStepped}. */
  checkAt: number = -Infinity;
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    const now = clock.monotonic();
    this.#offset = clock.now() - now;
    this.checkAt = now + CHECK_CLOCKS_EVERY_MS;
  }

  /**
   * Whether the wall clock was stepped since the last step that this method has reported, or else since construction.
   *
   * @param now the monotonic clock.
   */
  hasStepped(now: number): boolean {
    this.checkAt = now + CHECK_CLOCKS_EVERY_MS;
    const offset = this.#clock.now() - now;
    if (clockStep(this.#offset, offset) === 0) return false; // keeps the old offset: small drifts add up to a step
    this.#offset = offset;
    return true;
  }
}
