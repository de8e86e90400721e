import { type Clock, systemClock, type Timer } from './clock.ts';
import { wallClock } from './wall-clock.ts';

const known: WeakMap<Clock, Clock> = new WeakMap();

/**
 * A clock whose errors break nothing. While its monotonic clock throws, returns no number, or goes back, time passes from its
 * last reading on; a timer that it does not start, or that is none, is one of the machine.
 *
 * @param onError receives what it throws. The first call for a clock counts.
 */
export function steadyClock(clock: Clock, onError: (error: unknown) => void): Clock {
  const steady = known.get(clock) ?? (clock === systemClock ? ofMachine() : steadied(clock, onError));
  known.set(clock, steady);
  known.set(steady, steady);
  return steady;
}

/** The clock of the machine: only its `Date` may be mocked without a result. */
function ofMachine(): Clock {
  return { ...systemClock, now: wallClock(systemClock) };
}

function steadied(clock: Clock, onError: (error: unknown) => void): Clock {
  const guarded = <R>(action: () => R): R | undefined => {
    try {
      return action();
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const monotonic =
    clock.monotonic === systemClock.monotonic
      ? clock.monotonic
      : growing(() => guarded(() => clock.monotonic()));
  return {
    now: wallClock({ now: () => guarded(() => clock.now()) as number, monotonic }),
    monotonic,
    setTimeout: (callback, delayMs) => {
      const timer = guarded(() => clock.setTimeout(callback, delayMs));
      if (typeof timer?.cancel !== 'function') return systemClock.setTimeout(callback, delayMs);
      const call = (method: keyof Timer) => (): void => guarded(() => timer[method]());
      return { cancel: call('cancel'), ref: call('ref'), unref: call('unref') };
    },
  };
}

/** Readings that never go back. */
function growing(read: () => number | undefined): () => number {
  let last = 0;
  /** Added to each reading: the clock has gone back by that. */
  let offset = 0;
  /** When the readings began to be none, by the machine; `undefined`: they are. */
  let failedAt: number | undefined;
  return () => {
    const reading = read();
    if (!Number.isFinite(reading)) {
      const machine = systemClock.monotonic();
      last += machine - (failedAt ?? machine);
      failedAt = machine;
      return last;
    }
    failedAt = undefined;
    if ((reading as number) + offset < last) offset = last - (reading as number);
    last = (reading as number) + offset;
    return last;
  };
}
