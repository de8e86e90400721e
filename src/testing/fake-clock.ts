import { OptionError } from '../errors.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';

/** What a {@link FakeClock} starts with. */
export interface FakeClockOptions {
  /** What the wall clock shows: epoch milliseconds, a `Date`, or an ISO 8601 string. @default 2026-01-01T00:00:00Z */
  readonly now?: number | Date | string | undefined;
}

interface PendingTimer {
  readonly at: number;
  readonly callback: () => void;
}

// Taken at import, so that the faked globals of a test kit do not stop this clock.
const { setImmediate, setTimeout } = globalThis as unknown as {
  readonly setImmediate?: (callback: () => void) => void;
  readonly setTimeout: (callback: () => void) => void;
};

/** Lets all that is ready to run do so: jobs of promises, and jobs of those jobs. */
function settle(): Promise<void> {
  return new Promise((resolve) => (setImmediate ?? setTimeout)(resolve));
}

/**
 * A clock that stands still until it is told to move. Give it as the option `clock`.
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
 * `advance` moves both clocks, `stepWall` only the wall clock, as an operator, NTP or a machine that wakes up does.
 */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #timers: Set<PendingTimer> = new Set();

  /** @throws {OptionError} when `now` is no instant. */
  constructor({ now = Date.UTC(2026, 0, 1) }: FakeClockOptions = {}) {
    this.#wall = new Date(now).getTime();
    if (Number.isNaN(this.#wall)) refuse('now', 'must be an instant', now);
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** As of {@link Clock.setTimeout}. A timer of 0 ms needs no time to pass: it fires by itself, in a macrotask. */
  setTimeout(callback: () => void, delayMs: number): Timer {
    const timer: PendingTimer = { at: this.#monotonic + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    if (timer.at <= this.#monotonic) settle().then(() => this.#fire(timer));
    return { cancel: () => this.#timers.delete(timer), ref: () => {}, unref: () => {} };
  }

  /** How many timers are running: 0 whenever no load is. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /**
   * Moves both clocks on. First what is ready to run does so, at the present instant (a reload behind a read
   * starts); then the timers on the way fire in their order, each at its own instant, with all that follows from it.
   * Await it: nothing has moved when it returns.
   *
   * @throws {OptionError} when the duration is none, under 0, or infinite.
   */
  async advance(duration: DurationLike): Promise<void> {
    const target = this.#monotonic + finite(duration, 0);
    await settle();
    for (let next = this.#nextTimer(target); next !== undefined; next = this.#nextTimer(target)) {
      this.#moveTo(next.at);
      this.#fire(next);
      await settle();
    }
    this.#moveTo(target);
    await settle();
  }

  /** Lets everything happen that needs no time: promises settle, loads that are due now start and end. */
  async flush(): Promise<void> {
    await this.advance(0);
  }

  /**
   * Steps the wall clock only, either way; elapsed time does not change.
   *
   * @throws {OptionError} when the duration is none, or infinite.
   */
  stepWall(duration: DurationLike): void {
    this.#wall += finite(duration, Number.NEGATIVE_INFINITY);
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

function finite(duration: DurationLike, least: number): number {
  const ms = toMillis(duration);
  if (!(ms >= least) || !Number.isFinite(ms)) refuse('duration', 'must be a finite duration', duration);
  return ms;
}

function refuse(option: string, rule: string, received: unknown): never {
  throw new OptionError([{ option, rule, received }], { cacheName: 'FakeClock' });
}
