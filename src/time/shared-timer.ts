import type { Clock, Timer } from './clock.ts';

const timersOf: WeakMap<Clock, Set<SharedTimer>> = new WeakMap();

/**
 * Calls `callback` once, at most `delayMs` milliseconds from now and at most `earlyByMs` sooner: with the calls of another
 * timer of the clock that fires within this time, the last one of those, where there is one. Their commands to a backend then
 * begin in the same turn of the event loop, and can be one. Timers of the platform have a turn each, also at the same instant.
 *
 * @param callback must not throw.
 */
export function setSharedTimeout(
  clock: Clock,
  callback: () => void,
  delayMs: number,
  earlyByMs: number,
): Timer {
  const timers = timersOf.get(clock) ?? new Set();
  timersOf.set(clock, timers);
  const until = clock.monotonic() + delayMs;
  let found: SharedTimer | undefined;
  for (const timer of timers) {
    const isInTime = timer.at <= until && timer.at >= until - earlyByMs;
    if (isInTime && timer.at > (found?.at ?? -Infinity)) found = timer;
  }
  return (found ?? new SharedTimer(clock, timers, until, delayMs)).add(callback);
}

class SharedTimer {
  /** When it fires (monotonic). */
  readonly at: number;
  /** Those of its clock that have not fired. */
  readonly #pending: Set<SharedTimer>;
  readonly #timer: Timer;
  readonly #calls: Set<() => void> = new Set();
  #refs = 0;

  constructor(clock: Clock, pending: Set<SharedTimer>, at: number, delayMs: number) {
    this.at = at;
    this.#pending = pending;
    this.#timer = clock.setTimeout(() => this.#fire(), delayMs);
    pending.add(this);
  }

  add(callback: () => void): Timer {
    const call = (): void => callback(); // the same callback may be added twice
    let isRef = false;
    const refer = (is: boolean): void => {
      if (is === isRef) return;
      isRef = is;
      this.#refs += is ? 1 : -1;
      if (this.#refs === 0) this.#timer.unref();
      else if (is && this.#refs === 1) this.#timer.ref();
    };
    this.#calls.add(call);
    return { cancel: () => this.#remove(call, refer), ref: () => refer(true), unref: () => refer(false) };
  }

  #remove(call: () => void, refer: (is: boolean) => void): void {
    if (!this.#calls.delete(call)) return;
    refer(false);
    if (this.#calls.size > 0) return;
    this.#timer.cancel();
    this.#pending.delete(this);
  }

  #fire(): void {
    this.#pending.delete(this);
    for (const call of this.#calls) {
      this.#calls.delete(call);
      call();
    }
  }
}
