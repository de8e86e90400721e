import type { Clock } from '../time/clock.ts';
import type { Entry } from './entry.ts';

/** The loads under way, and the rounds, which go on after their loads while leases are released. */
export class ActiveLoads<T> {
  /** The entries whose loads are under way. */
  readonly entries: Set<Entry<T>> = new Set();
  readonly rounds: Set<object> = new Set();
  readonly #clock: Clock;
  #onIdle: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called when one has ended, and has left its set. */
  ended(): void {
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle();
  }

  /** Resolves when there is none, or after `timeoutMs`. The process lives until then. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => {
      const timer = timeoutMs === Infinity ? undefined : this.#clock.setTimeout(resolve, timeoutMs);
      timer?.ref();
      this.#onIdle = () => {
        timer?.cancel();
        resolve();
      };
    });
    this.#onIdle = undefined;
  }

  get #isIdle(): boolean {
    return this.entries.size === 0 && this.rounds.size === 0;
  }
}
