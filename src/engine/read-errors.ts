import { type ErrorCode, isTicklessError, reasonOf, TicklessError } from '../errors.ts';
import { showDuration } from '../time/show-duration.ts';
import { type DecisionRules, isRefusedAsFailing, isTooStale, limitOfRead, type RunState } from './decide.ts';
import type { Entry } from './entry.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/**
 * The options of a member that its errors need. Instants in errors are those of the machine, with whose clock a caller compares them:
 * that of the server of a lock may be hours away.
 */
type NameAndClock = Pick<ResolvedOptions, 'name' | 'clock'>;

/**
 * The error of a read that may neither be served nor wait.
 *
 * @param ownMs the `maxStaleness` of this read, in milliseconds.
 * @param reason why no load may replace the value. @default the last load failed
 */
export function readError(
  entry: Entry<unknown>,
  rules: Pick<DecisionRules, 'runState' | 'whenFailing'> & { readonly isTask?: boolean },
  options: NameAndClock,
  ownMs: number = Infinity,
  reason?: Error,
): TicklessError {
  const { runState } = rules;
  const { key, lastError: cause } = entry;
  const about = { member: options.name, key, cause };
  if (entry.isLoaded && isRefusedAsFailing(entry, rules)) return cause as TicklessError;
  if (entry.isLoaded) {
    const now = options.clock.monotonic();
    const age = now - entry.loadedAt;
    const maxStaleness = limitOfRead(entry, ownMs);
    const old = showDuration(age);
    const what = rules.isTask ? `the last success was ${old} ago` : `the value is ${old} old`;
    const why = reason ?? cause;
    const message = `${what}, maxStaleness is ${showDuration(maxStaleness)}${why === undefined ? '' : `: ${reasonOf(why)}`}`;
    return new TicklessError('TOO_STALE', message, { ...about, cause: why, age });
  }
  if (isTicklessError(cause, 'ABSENT')) return absentError(entry, options);
  if (runState === 'closed') return new TicklessError('CLOSED', 'is closed, and was never loaded', about);
  if (runState === 'paused') return new TicklessError('NOT_LOADED', 'is paused, and was never loaded', about);
  return coolingDownError(entry, options);
}

/** The limit of a read that found the value too old, as its error has it. */
export function limitIn(error: TicklessError): string {
  return /, maxStaleness is ([^:]*)/.exec(error.message)?.[1] ?? '';
}

/** The error of a reader that has waited for the next load, which may not start. */
export function nextError(
  entry: Entry<unknown>,
  rules: Parameters<typeof readError>[1],
  options: NameAndClock,
): TicklessError {
  const { key, lastError: cause } = entry;
  const { name: member, clock } = options;
  if (rules.runState === 'closed') return closedError(member, key);
  if (!entry.isLoaded || isTooStale(entry, clock.monotonic())) return readError(entry, rules, options);
  // The value in place is older than the last invalidation before this read.
  if (rules.runState === 'open') return coolingDownError(entry, options);
  return new TicklessError('NOT_LOADED', 'is paused, and its value was invalidated', { member, key, cause });
}

/** The error of a caller that asks for a load before one may start. */
export function coolingDownError(entry: Entry<unknown>, options: NameAndClock): TicklessError {
  const { key, lastError: cause } = entry;
  const pauseMs = leftOf(entry, options);
  const reason = cause === undefined ? '' : ` after: ${reasonOf(cause)}`;
  const retryAt = options.clock.now() + Math.ceil(pauseMs);
  const message = `cooling down for ${showDuration(pauseMs)}${reason}`;
  return new TicklessError('COOLING_DOWN', message, { member: options.name, key, cause, retryAt });
}

/** The error of a read of a key that the source does not have. */
export function absentError(entry: Entry<unknown>, options: NameAndClock): TicklessError {
  const { name: member, clock } = options;
  const retryAt = clock.now() + Math.ceil(leftOf(entry, options));
  return new TicklessError('ABSENT', 'the source does not have this key', {
    member,
    key: entry.key,
    retryAt,
  });
}

/** The rest of the cool-down, or of the time for which a key is absent, in milliseconds. */
function leftOf({ coolDownUntil }: Entry<unknown>, { clock }: NameAndClock): number {
  return Math.max(0, coolDownUntil - clock.monotonic());
}

/** The error of a caller that asks for a load after `close()`. */
export function closedError(
  member: string,
  key?: unknown,
  message: string = 'is closed and starts no more loads',
): TicklessError {
  return new TicklessError('CLOSED', message, { member, key });
}

/** The error of a read that can't wait, of an entry without a value. */
export function notLoadedError(entry: Entry<unknown>, runState: RunState, member: string): TicklessError {
  const { key, lastError: cause } = entry;
  const isOpen = runState === 'open';
  const state = isOpen ? 'not loaded yet' : `is ${runState}, and was never loaded`;
  const advice = isOpen ? ': await get() or ready() first' : '';
  const message = state + (cause === undefined ? advice : `: ${reasonOf(cause)}`);
  return new TicklessError('NOT_LOADED', message, { member, key, cause });
}

/** The error of a read whose patience, in milliseconds, has ended before there was a value that answers it. */
export function impatientError(
  { key, flight, lastError: cause }: Entry<unknown>,
  member: string,
  patienceMs: number,
): TicklessError {
  const patience = patienceMs < 1 ? '' : `, ${showDuration(patienceMs)}`; // it has waited before, or not at all
  const waitedFor = flight?.waitedFor === undefined ? '' : `, ${flight.waitedFor}`;
  const reason = cause === undefined ? '' : `: ${reasonOf(cause)}`;
  const message = `not loaded within the patience of this read${patience}${waitedFor}${reason}`;
  return new TicklessError('NOT_LOADED', message, { member, key, cause });
}

/** The load was not over in time. @param waitedFor what it waited for until then. */
export function timeoutError(
  { name: member, timeoutMs }: ResolvedOptions,
  key: unknown,
  attempts: number,
  cause?: unknown,
  waitedFor?: string,
): TicklessError {
  const reason = waitedFor === undefined ? '' : `, ${waitedFor}`;
  const message = `load timed out after ${showDuration(timeoutMs)}${reason}`;
  return new TicklessError('TIMED_OUT', message, { member, key, attempts, cause });
}

const FAILED_LOADS: readonly ErrorCode[] = [
  'LOAD_FAILED',
  'TIMED_OUT',
  'COOLING_DOWN',
  'BACKEND_DOWN',
  'LEASE_LOST',
  'REFUSED',
];

/** A caller that has waited for a load gets this error because that has failed; not: its own signal, `pause` or `close`. */
export function isFailedLoad(error: unknown): boolean {
  return isTicklessError(error) && FAILED_LOADS.includes(error.code);
}
