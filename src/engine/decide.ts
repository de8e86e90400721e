import type { Entry } from './entry.ts';

/**
 * What a read does:
 * - `serve`: answer with the value;
 * - `serve-and-start`: answer with the value, start a load behind it;
 * - `wait-for-load`: wait for the load under way, or start one and wait for it;
 * - `reject`: answer with an error;
 * - `reject-and-start`: answer with an error, start a load behind it.
 */
export type Decision = 'serve' | 'serve-and-start' | 'wait-for-load' | 'reject' | 'reject-and-start';

/** `open`: reads may start loads; `paused` and `closed`: they may not. */
export type Gate = 'open' | 'paused' | 'closed';

/**
 * What becomes of a read that meets a value older than `maxStaleness`: it waits for the reload, it throws, or it
 * gets the old value all the same.
 */
export type WhenTooStale = 'wait' | 'throw' | 'serve';

/** What a decision depends on beside the entry and the time. */
export interface DecisionPolicy {
  readonly gate: Gate;
  readonly whenTooStale: WhenTooStale;
  readonly whenClosed: WhenClosed;
}

/** What becomes of a read after `close()`: it gets the last value, or it throws. */
export type WhenClosed = 'serve' | 'throw';

type Times = Pick<
  Entry<unknown>,
  'isLoaded' | 'flight' | 'dueAt' | 'loadedAt' | 'maxStalenessMs' | 'coolDownUntil' | 'deferredUntil'
>;

/**
 * Decides what a read does. Total and pure: it reads no clock, starts nothing and never throws.
 *
 * @param now the monotonic clock in milliseconds.
 */
export function decide(entry: Times, policy: DecisionPolicy, now: number): Decision {
  const { gate, whenTooStale, whenClosed } = policy;
  if (gate === 'closed' && whenClosed === 'throw') return 'reject';
  const mayLoad = entry.flight === undefined && gate === 'open' && now >= entry.coolDownUntil;
  const mayStart = mayLoad && now >= entry.deferredUntil;
  const mayWait = entry.flight !== undefined || mayLoad;
  if (!entry.isLoaded) return mayWait ? 'wait-for-load' : 'reject';
  if (!isTooStale(entry, now)) return isDue(entry, now) && mayStart ? 'serve-and-start' : 'serve';
  switch (whenTooStale) {
    case 'serve':
      return mayStart ? 'serve-and-start' : 'serve';
    case 'throw':
      return mayStart ? 'reject-and-start' : 'reject';
    case 'wait':
      return mayWait ? 'wait-for-load' : 'reject';
  }
}

/**
 * From when on a load may be started though nobody asks for it: `lookAheadMs` before it is due, but not in the first half
 * of its time, and not while it cools down.
 */
export function startableFrom(
  { flight, dueAt, loadedAt, coolDownUntil, deferredUntil }: Times,
  lookAheadMs: number,
): number {
  if (flight !== undefined) return Number.POSITIVE_INFINITY;
  const mayFrom = Math.max(coolDownUntil, deferredUntil);
  if (dueAt === Number.NEGATIVE_INFINITY) return mayFrom;
  return Math.max(dueAt - Math.min(lookAheadMs, (dueAt - loadedAt) / 2), mayFrom);
}

/** It is due, and stands by for others: who waits for the outcome may start a load all the same. */
export function isStandingBy(entry: Times, gate: Gate, now: number): boolean {
  const mayLoad = entry.flight === undefined && gate === 'open' && now >= entry.coolDownUntil;
  return mayLoad && isDue(entry, now) && now < entry.deferredUntil;
}

/** The next execute time has come. */
export function isDue(entry: Pick<Times, 'dueAt'>, now: number): boolean {
  return now >= entry.dueAt;
}

/** The value is older than its limit. At just the limit it is not. */
export function isTooStale(entry: Pick<Times, 'loadedAt' | 'maxStalenessMs'>, now: number): boolean {
  return now - entry.loadedAt > entry.maxStalenessMs;
}
