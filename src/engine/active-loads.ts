import type { Clock } from '../time/clock.ts';
import type { CoordinatedRound } from './coordinator.ts';
import type { Entry } from './entry.ts';

/** The loads under way, and the rounds: these go on after their loads, while leases are released. */
export class ActiveLoads<T> {
  readonly #clock: Clock;
  readonly #entries: Set<Entry<T>> = new Set();
  readonly #rounds: Set<CoordinatedRound<T>> = new Set();
  #onIdle: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The entries whose loads are under way now. */
  entries(): readonly Entry<T>[] {
    return [...this.#entries];
  }

  began(entry: Entry<T>): void {
    this.#entries.add(entry);
  }

  ended(entry: Entry<T>): void {
    this.#entries.delete(entry);
    if (this.#onIdle !== undefined) this.#checkIdle();
  }

  roundBegan(round: CoordinatedRound<T>): void {
    this.#rounds.add(round);
  }

  roundEnded(round: CoordinatedRound<T>): void {
    this.#rounds.delete(round);
    if (this.#onIdle !== undefined) this.#checkIdle();
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

  #checkIdle(): void {
    if (this.#isIdle) this.#onIdle?.();
  }

  get #isIdle(): boolean {
    return this.#entries.size === 0 && this.#rounds.size === 0;
  }
}
