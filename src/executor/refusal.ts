import {
  ClosedError,
  CoolingDownError,
  NotLoadedError,
  StaleValueError,
  type TicklessError,
} from '../errors.ts';
import type { Gate } from './decide.ts';
import type { Entry } from './entry.ts';

/**
 * The error for a read that may neither be served nor wait.
 *
 * @param now the monotonic clock in milliseconds.
 */
export function refusal(entry: Entry<unknown>, gate: Gate, cacheName: string, now: number): TicklessError {
  const cause = entry.lastError;
  if (entry.isLoaded) {
    const age = now - entry.loadedAt;
    const maxStaleness = entry.maxStalenessMs;
    const message = `the value is ${Math.round(age)} ms old, over maxStaleness of ${maxStaleness} ms`;
    return new StaleValueError(message, { cacheName, cause, age, maxStaleness });
  }
  if (gate === 'closed') return new ClosedError('is closed, and was never loaded', { cacheName, cause });
  if (gate === 'paused') return new NotLoadedError('is paused, and was never loaded', { cacheName, cause });
  return coolingDown(entry, cacheName, now);
}

/** The error for who asks for a load before it may start. */
export function coolingDown(entry: Entry<unknown>, cacheName: string, now: number): CoolingDownError {
  const cause = entry.lastError;
  const retryAfter = Math.max(0, entry.coolDownUntil - now);
  const message = `cooling down for ${Math.ceil(retryAfter)} ms after: ${cause?.message}`;
  return new CoolingDownError(message, { cacheName, cause, retryAfter });
}

/** The error for a read that can't wait, where nothing was ever loaded. */
export function notLoaded({ lastError: cause }: Entry<unknown>, cacheName: string): NotLoadedError {
  const message = cause === undefined ? 'not loaded yet' : `not loaded yet: ${cause.message}`;
  return new NotLoadedError(message, { cacheName, cause });
}
