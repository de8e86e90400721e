import {
  AbsentError,
  ClosedError,
  CoolingDownError,
  isAbsentError,
  isCoolingDownError,
  isLeaseLostError,
  isLoadError,
  isLoadTimeoutError,
  isLockUnavailableError,
  isValueRejectedError,
  LoadTimeoutError,
  NotLoadedError,
  reasonOf,
  StaleValueError,
  type TicklessError,
} from '../errors.ts';
import { showDuration } from '../time/show-duration.ts';
import { type DecisionRules, isRefusedAsFailing, isTooStale, limitOfRead, type RunState } from './decide.ts';
import type { Entry } from './entry.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/**
 * The error of a read that may neither be served nor wait.
 *
 * @param now the monotonic clock in milliseconds.
 * @param ownMs the `maxStaleness` of this read, in milliseconds.
 * @param reason why no load may replace the value. @default the last load failed
 */
export function readError(
  entry: Entry<unknown>,
  rules: Pick<DecisionRules, 'runState' | 'whenFailing'> & { readonly isTask?: boolean },
  cacheName: string,
  now: number,
  ownMs: number = Infinity,
  reason?: Error,
): TicklessError {
  const { runState } = rules;
  const { key, lastError: cause } = entry;
  const why = reason ?? cause;
  if (entry.isLoaded && isRefusedAsFailing(entry, rules)) return cause as TicklessError;
  if (entry.isLoaded) {
    const age = now - entry.loadedAt;
    const maxStaleness = limitOfRead(entry, ownMs);
    const old = showDuration(age);
    const what = rules.isTask ? `the last success was ${old} ago` : `the value is ${old} old`;
    const message = `${what}, maxStaleness is ${showDuration(maxStaleness)}${why === undefined ? '' : `: ${reasonOf(why)}`}`;
    return new StaleValueError(message, { cacheName, key, cause: why, age, maxStaleness });
  }
  if (isAbsentError(cause)) return absentError(entry, cacheName, now);
  if (runState === 'closed')
    return new ClosedError('is closed, and was never loaded', { cacheName, key, cause });
  if (runState === 'paused') {
    return new NotLoadedError('is paused, and was never loaded', { cacheName, key, cause });
  }
  return coolingDownError(entry, cacheName, now);
}

/** The error of a reader that has waited for the next load, which may not start. */
export function nextError(
  entry: Entry<unknown>,
  rules: Parameters<typeof readError>[1],
  cacheName: string,
  now: number,
): TicklessError {
  const { key, lastError: cause } = entry;
  if (rules.runState === 'closed') return closedError(cacheName, key);
  if (!entry.isLoaded || isTooStale(entry, now)) return readError(entry, rules, cacheName, now);
  // The value in place is older than the last invalidation before this read.
  if (rules.runState === 'open') return coolingDownError(entry, cacheName, now);
  return new NotLoadedError('is paused, and its value was invalidated', { cacheName, key, cause });
}

/** The error of a caller that asks for a load before one may start. */
export function coolingDownError(entry: Entry<unknown>, cacheName: string, now: number): CoolingDownError {
  const { key, lastError: cause } = entry;
  const retryAfter = Math.max(0, entry.coolDownUntil - now);
  const reason = cause === undefined ? '' : ` after: ${reasonOf(cause)}`;
  const message = `cooling down for ${showDuration(retryAfter)}${reason}`;
  return new CoolingDownError(message, { cacheName, key, cause, retryAfter });
}

/** The error of a read of a key that the source does not have. */
export function absentError(
  { key, coolDownUntil }: Entry<unknown>,
  cacheName: string,
  now: number,
): AbsentError {
  const retryAfter = Math.max(0, coolDownUntil - now);
  return new AbsentError('the source does not have this key', { cacheName, key, retryAfter });
}

/** The error of a caller that asks for a load after `close()`. */
export function closedError(
  cacheName: string,
  key?: unknown,
  message: string = 'is closed and starts no more loads',
): ClosedError {
  return new ClosedError(message, { cacheName, key });
}

/** The error of a read that can't wait, of an entry without a value. */
export function notLoadedError(entry: Entry<unknown>, runState: RunState, cacheName: string): NotLoadedError {
  const { key, lastError: cause } = entry;
  const isOpen = runState === 'open';
  const state = isOpen ? 'not loaded yet' : `is ${runState}, and was never loaded`;
  const advice = isOpen ? ': await get() or ready() first' : '';
  const message = state + (cause === undefined ? advice : `: ${reasonOf(cause)}`);
  return new NotLoadedError(message, { cacheName, key, cause });
}

/** The error of a read whose patience, in milliseconds, has ended before there was a value that answers it. */
export function impatientError(
  { key, flight, lastError: cause }: Entry<unknown>,
  cacheName: string,
  patienceMs: number,
): NotLoadedError {
  const patience = patienceMs < 1 ? '' : `, ${showDuration(patienceMs)}`; // it has waited before, or not at all
  const waitedFor = flight?.waitedFor === undefined ? '' : `, ${flight.waitedFor}`;
  const reason = cause === undefined ? '' : `: ${reasonOf(cause)}`;
  const message = `not loaded within the patience of this read${patience}${waitedFor}${reason}`;
  return new NotLoadedError(message, { cacheName, key, cause });
}

/** The load was not over in time. @param waitedFor what it waited for until then. */
export function timeoutError(
  { name, timeoutMs }: ResolvedOptions,
  key: unknown,
  attempts: number,
  cause?: unknown,
  waitedFor?: string,
): LoadTimeoutError {
  const about = { cacheName: name, key, attempts, timeout: timeoutMs, cause };
  const reason = waitedFor === undefined ? '' : `, ${waitedFor}`;
  return new LoadTimeoutError(`load timed out after ${showDuration(timeoutMs)}${reason}`, about);
}

/** A caller that has waited for a load gets this error because that has failed; not: its own signal, `pause` or `close`. */
export function isFailedLoad(error: unknown): boolean {
  return (
    isLoadError(error) ||
    isLoadTimeoutError(error) ||
    isCoolingDownError(error) ||
    isLockUnavailableError(error) ||
    isLeaseLostError(error) ||
    isValueRejectedError(error)
  );
}
