/**
 * The source of time: one wall clock, one monotonic clock, one kind of timer.
 *
 * Every clock reading and every timer of the library goes through this interface, so that a test can inject its own
 * clock (see `FakeClock` in `tickless/testing`), and an audit for stray timers is a search for `setTimeout`.
 */
export interface Clock {
  /** The wall clock: milliseconds since 1970-01-01T00:00:00Z. May be stepped either way at any time. */
  now(): number;
  /** Milliseconds since an arbitrary origin. Never steps or goes back; all durations are measured with it. */
  monotonic(): number;
  /**
   * Calls `callback` once, `delayMs` milliseconds from now. Any finite delay of 0 or more works, also one over
   * 2^31 - 1 ms (24.8 days), which the platform's own timers would fire at once. The timer does not keep the process
   * alive until {@link Timer.ref} is called.
   */
  setTimeout(callback: () => void, delayMs: number): Timer;
}

/** A running timer. All three methods may be called at any time, also after it fired, and never throw. */
export interface Timer {
  /** The timer does not fire any more. */
  cancel(): void;
  /** Keeps the process alive while the timer runs. */
  ref(): void;
  /** Lets the process end while the timer runs. */
  unref(): void;
}

/** The longest delay that the platform's timers take: a signed 32-bit number of milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** In Node and Bun a timer is an object; elsewhere it is a number that cannot keep the process alive. */
type Handle = number | { ref?(): void; unref?(): void } | undefined;

class SystemTimer implements Timer {
  #handle: Handle;
  #isRef = false;

  constructor(callback: () => void, delayMs: number) {
    this.#arm(callback, delayMs);
  }

  #arm(callback: () => void, delayMs: number): void {
    const isLong = delayMs > LONGEST_DELAY_MS;
    this.#handle = isLong ? this.#armLong(callback, delayMs) : setTimeout(callback, delayMs);
    if (!this.#isRef) this.unref();
  }

  #armLong(callback: () => void, delayMs: number): Handle {
    return setTimeout(() => this.#arm(callback, delayMs - LONGEST_DELAY_MS), LONGEST_DELAY_MS);
  }

  cancel(): void {
    clearTimeout(this.#handle as ReturnType<typeof setTimeout>);
  }

  ref(): void {
    this.#isRef = true;
    if (typeof this.#handle === 'object') this.#handle.ref?.();
  }

  unref(): void {
    this.#isRef = false;
    if (typeof this.#handle === 'object') this.#handle.unref?.();
  }
}

/**
 * The clock of the machine. Each call looks up `Date`, `performance` and `setTimeout`, so that the fake timers of
 * Vitest and Jest control it.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (callback, delayMs) => new SystemTimer(callback, delayMs),
};
