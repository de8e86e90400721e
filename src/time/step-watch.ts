import { clockStep } from '../engine/next-execution.ts';
import type { Clock } from './clock.ts';

/** Reads compare both clocks at least this often, so that a stepped wall clock or a suspended machine is noticed. */
export const LOOK_EVERY_MS = 60_000;

/** Notices for many entries at once that the wall clock was stepped: once a minute of reads. */
export class StepWatch {
  /** Who comes at or after this instant (monotonic) is to {@link look}. */
  lookAt: number = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    const now = clock.monotonic();
    this.#offset = clock.now() - now;
    this.lookAt = now + LOOK_EVERY_MS;
  }

  /** Has it been stepped since the last look that found it so? @param now the monotonic clock. */
  look(now: number): boolean {
    this.lookAt = now + LOOK_EVERY_MS;
    const offset = this.#clock.now() - now;
    if (clockStep(this.#offset, offset) === 0) return false; // nor forget a clock that creeps away
    this.#offset = offset;
    return true;
  }
}
