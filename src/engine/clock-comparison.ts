import type { Entry } from './entry.ts';
import type { FlightHost } from './flight.ts';
import type { LoadReporter } from './load-reporter.ts';
import type { Timing } from './timing.ts';

/** Keeps due times right between loads: computes them anew when the wall clock was stepped or the schedule replaced. */
export class ClockComparison<T> {
  readonly #host: Pick<FlightHost<T>, 'options' | 'owner'> & { readonly initial: (() => void) | undefined };
  readonly #timing: Timing;
  readonly #reporter: LoadReporter;

  constructor(
    host: Pick<FlightHost<T>, 'options' | 'owner'> & { readonly initial: (() => void) | undefined },
    timing: Timing,
    reporter: LoadReporter,
  ) {
    this.#host = host;
    this.#timing = timing;
    this.#reporter = reporter;
  }

  /** Compares the clocks if it is time to. @returns the monotonic clock. */
  check(entry: Entry<T>): number {
    this.#host.initial?.(); // before the clock is read: it is due from the moment at which it is in place
    const now = this.#host.options.clock.monotonic();
    if (now >= entry.checkClocksAt) this.compareClocks(entry, now);
    return now;
  }

  /** Also puts the initial value into place: all that depends on the state of an entry calls this before. */
  compareClocks(entry: Entry<T>, now: number): void {
    this.#host.initial?.();
    const { dueAt } = entry;
    const coolingDown = this.#timing.compareClocks(entry, now);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    if (entry.dueAt !== dueAt) this.#host.owner?.changed(entry);
  }

  /** The timing has another schedule. */
  rescheduled(entry: Entry<T>): void {
    const coolingDown = this.#timing.rescheduled(entry);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    this.#host.owner?.changed(entry);
  }
}
