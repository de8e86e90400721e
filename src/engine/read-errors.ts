import {
  AbsentError,
  ClosedError,
  CoolingDownError,
  isAbsentError,
  NotLoadedError,
  StaleValueError,
  type TicklessError,
} from '../errors.ts';
import type { DecisionPolicy, Gate } from './decide.ts';
import type { Entry } from './entry.ts';

/**
 * The error for a read that may neither be served nor wait.
 *
 * @param now the monotonic clock in milliseconds.
 */
export function refusal(
  entry: Entry<unknown>,
  { gate, whenClosed }: Pick<DecisionPolicy, 'gate' | 'whenClosed'>,
  cacheName: string,
  now: number,
): TicklessError {
  const { key, lastError: cause } = entry;
  if (gate === 'closed' && whenClosed === 'throw') {
    return new ClosedError('is closed, and whenClosed says not to serve', { cacheName, key, cause });
  }
  if (entry.isLoaded) {
    const age = now - entry.loadedAt;
    const maxStaleness = entry.maxStalenessMs;
    const message = `the value is ${Math.round(age)} ms old, over maxStaleness of ${maxStaleness} ms`;
    return new StaleValueError(message, { cacheName, key, cause, age, maxStaleness });
  }
  if (isAbsentError(cause)) return absence(entry, cacheName, now);
  if (gate === 'closed') return new ClosedError('is closed, and was never loaded', { cacheName, key, cause });
  if (gate === 'paused') {
    return new NotLoadedError('is paused, and was never loaded', { cacheName, key, cause });
  }
  return coolingDown(entry, cacheName, now);
}

/** The error for who asks for a load before it may start. */
export function coolingDown(entry: Entry<unknown>, cacheName: string, now: number): CoolingDownError {
  const { key, lastError: cause } = entry;
  const retryAfter = Math.max(0, entry.coolDownUntil - now);
  const message = `cooling down for ${Math.ceil(retryAfter)} ms after: ${cause?.message}`;
  return new CoolingDownError(message, { cacheName, key, cause, retryAfter });
}

/** The error for who asks for a key that the source does not have. */
export function absence({ key, coolDownUntil }: Entry<unknown>, cacheName: string, now: number): AbsentError {
  const retryAfter = Math.max(0, coolDownUntil - now);
  return new AbsentError('the source has no such key', { cacheName, key, retryAfter });
}

/** The error for who asks for a load after `close()`. */
export function closedError(
  cacheName: string,
  key?: unknown,
  message: string = 'is closed and starts nothing any more',
): ClosedError {
  return new ClosedError(message, { cacheName, key });
}

/** The error for a read that can't wait, where nothing was ever loaded. */
export function notLoaded(entry: Entry<unknown>, gate: Gate, cacheName: string): NotLoadedError {
  const { key, lastError: cause } = entry;
  const state = gate === 'open' ? 'not loaded yet' : `is ${gate}, and was never loaded`;
  const message = cause === undefined ? state : `${state}: ${cause.message}`;
  return new NotLoadedError(message, { cacheName, key, cause });
}
