import { type DurationLike, toMillis } from '../time/duration.ts';

/**
 * How long a backend may take to answer, unless its option `timeout` says otherwise, in milliseconds. A reader without a
 * value waits this long at most, once, when the backend is down.
 */
export const DEFAULT_TIMEOUT_MS = 1000;

/** An adapter should limit the time of its steps by itself. One that does not must not delay what comes after. */
export const LONGEST_STEP_MS = 15_000;

/** A write carries a payload, and no reader waits for it. */
const WRITE_FACTOR = 3;

/** How long a write, or another step that no reader waits for, may take where a read may take `timeoutMs`. */
export function writeTimeoutMs(timeoutMs: number): number {
  return WRITE_FACTOR * timeoutMs;
}

/** Slow is not dead: an answer may take this many times as long as a backend may be silent. */
const ANSWER_FACTOR = 10;

/** How long the client of a backend waits for the answer to a command, in milliseconds. */
export function answerTimeoutMs(timeout: DurationLike = DEFAULT_TIMEOUT_MS): number {
  return ANSWER_FACTOR * toMillis(timeout);
}

/**
 * How long the client of a backend keeps a command, in milliseconds: one that is not sent by then never is.
 *
 * @param isOfLease it takes or changes a lease: sent late, it may leave one without a holder.
 */
export function commandTimeoutMs(
  timeout: DurationLike = DEFAULT_TIMEOUT_MS,
  isOfLease: boolean = false,
): number {
  const timeoutMs = toMillis(timeout);
  return isOfLease ? timeoutMs : writeTimeoutMs(timeoutMs);
}

/** The longest time of a signal. */
const LONGEST_SIGNAL_MS = 2 ** 31 - 1;

/** A signal that ends a command after this many milliseconds. Its timer does not keep the process alive. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), LONGEST_SIGNAL_MS));
}
