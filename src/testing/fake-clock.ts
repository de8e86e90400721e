import { isImportAwaited } from '../data/late-import.ts';
import { checked, OptionChecks, ownOptions } from '../option-checks.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { areYieldsAwaited } from '../time/yield-to-event-loop.ts';

/** Options of {@link FakeClock}. */
export interface FakeClockOptions {
  /** Start of the wall clock: epoch milliseconds, a `Date`, or an ISO 8601 string. @default 2026-01-01T00:00:00Z */
  readonly now?: number | Date | string | undefined;
}

interface PendingTimer {
  readonly at: number;
  readonly callback: () => void;
}

// Taken at import, so that fake globals of a test framework do not stop this clock.
const { setImmediate, setTimeout } = globalThis as unknown as {
  readonly setImmediate?: (callback: () => void) => void;
  readonly setTimeout: (callback: () => void) => void;
};

/** Runs all ready promise jobs, the jobs that these create, and work in slices and imports to their end. */
async function settle(): Promise<void> {
  do await new Promise<void>((resolve) => (setImmediate ?? setTimeout)(resolve));
  while (areYieldsAwaited() || isImportAwaited());
}

/**
 * A clock that only moves when a test moves it. Pass it as the option `clock`.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { FakeClock } from 'tickless/testing';
 *
 * const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
 * let loads = 0;
 * const value = new RefreshingValue({ name: 'count', load: async () => ++loads, schedule: { minutes: 10 }, clock });
 * await value.get();
 * await clock.advance({ minutes: 11 });
 * await value.get(); // served at once with 1, reloads behind
 * await clock.flush();
 * console.log(value.current); // 2
 * ```
 *
 * `advance` moves both clocks; `stepWall` moves only the wall clock, as an operator, NTP or a resumed machine does.
 */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #timers: Set<PendingTimer> = new Set();

  /** @throws {TicklessError} `OPTION` when `now` is not a valid instant, and for anything but an object: an instant alone, another option. */
  constructor(given: FakeClockOptions = {}) {
    const checks = new OptionChecks('FakeClock');
    const { now = Date.UTC(2026, 0, 1) } = ownOptions(given ?? {});
    checks.names('', given, ['now']);
    const isOfType = typeof now === 'number' || typeof now === 'string' || now instanceof Date;
    this.#wall = isOfType ? new Date(now).getTime() : Number.NaN;
    const rule = 'must be epoch milliseconds, a Date or an ISO 8601 string';
    checks.that(!Number.isNaN(this.#wall), 'now', rule, now);
    checks.done();
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** See {@link Clock.setTimeout}. A timer of 0 ms needs no `advance`: it fires in the next macrotask. */
  setTimeout(callback: () => void, delayMs: number): Timer {
    const timer: PendingTimer = { at: this.#monotonic + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    if (timer.at <= this.#monotonic) settle().then(() => this.#fire(timer));
    return { cancel: () => this.#timers.delete(timer), ref: () => {}, unref: () => {} };
  }

  /** Number of pending timers: 0 whenever no load runs. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /**
   * Moves both clocks forward. First all ready jobs run at the present instant, so that a reload behind a read starts;
   * then each due timer fires at its own instant, in order, followed by the jobs that it makes ready. Await the result:
   * the clocks have not moved yet when the call returns.
   *
   * @throws {TicklessError} `OPTION` when the duration is invalid, negative or infinite.
   */
  async advance(duration: DurationLike): Promise<void> {
    const target = this.#monotonic + finiteMs('FakeClock', duration, 0);
    await settle();
    for (let next = this.#nextTimer(target); next !== undefined; next = this.#nextTimer(target)) {
      this.#moveTo(next.at);
      this.#fire(next);
      await settle();
    }
    this.#moveTo(target);
    await settle();
  }

  /** Runs everything that needs no time: promises settle, loads that are due start and end. */
  async flush(): Promise<void> {
    await this.advance(0);
  }

  /**
   * Steps only the wall clock, forwards or backwards; elapsed time does not change.
   *
   * @throws {TicklessError} `OPTION` when the duration is invalid or infinite.
   */
  stepWall(duration: DurationLike): void {
    this.#wall += finiteMs('FakeClock', duration);
  }

  #nextTimer(target: number): PendingTimer | undefined {
    let next: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= target && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }

  #fire(timer: PendingTimer): void {
    if (this.#timers.delete(timer)) timer.callback();
  }

  #moveTo(instant: number): void {
    this.#wall += Math.max(0, instant - this.#monotonic);
    this.#monotonic = Math.max(instant, this.#monotonic);
  }
}

/** @throws {TicklessError} `OPTION` when the duration is invalid, infinite, or less. */
export function finiteMs(member: string, duration: DurationLike, least: number = -Infinity): number {
  const ms = toMillis(duration);
  const holds = ms >= least && Number.isFinite(ms);
  checked(member, (checks) => checks.that(holds, 'duration', 'must be a finite duration', duration));
  return ms;
}
