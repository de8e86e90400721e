import type { Clock } from '../time/clock.ts';
import type { Entry } from './entry.ts';
import type { LoadReporter } from './load-reporter.ts';
import type { Timing } from './timing.ts';

/** Keeps due times right between loads: computes them anew when the wall clock was stepped or the schedule replaced. */
export class DueTimes<T> {
  readonly #clock: Clock;
  readonly #timing: Timing;
  readonly #reporter: LoadReporter;
  readonly #changed: (entry: Entry<T>) => void;

  /** @param changed called where the due time of an entry may be another one. */
  constructor(clock: Clock, timing: Timing, reporter: LoadReporter, changed: (entry: Entry<T>) => void) {
    this.#clock = clock;
    this.#timing = timing;
    this.#reporter = reporter;
    this.#changed = changed;
  }

  /** Compares the clocks if it is time to. @returns the monotonic clock. */
  check(entry: Entry<T>): number {
    const now = this.#clock.monotonic();
    if (now >= entry.checkClocksAt) this.compareClocks(entry, now);
    return now;
  }

  compareClocks(entry: Entry<T>, now: number): void {
    const { dueAt } = entry;
    const coolingDown = this.#timing.compareClocks(entry, now);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    if (entry.dueAt !== dueAt) this.#changed(entry);
  }

  /** The timing has another schedule. */
  rescheduled(entry: Entry<T>): void {
    const coolingDown = this.#timing.rescheduled(entry);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    this.#changed(entry);
  }
}
