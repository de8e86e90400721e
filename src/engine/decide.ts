import { isTicklessError } from '../errors.ts';
import type { Entry } from './entry.ts';

/**
 * The action of a read:
 * - `serve`: return the value;
 * - `serve-and-start`: return the value and start a load behind the read;
 * - `wait-for-load`: wait for the load under way, or start one and wait for it;
 * - `reject`: throw or reject;
 * - `reject-and-start`: throw or reject, and start a load behind the read.
 */
export type Decision = 'serve' | 'serve-and-start' | 'wait-for-load' | 'reject' | 'reject-and-start';

/** `open`: reads may start loads. `paused` and `closed`: they may not. */
export type RunState = 'open' | 'paused' | 'closed';

/** A read of a value older than `maxStaleness` waits for the reload, or throws. */
export type WhenTooStale = 'wait' | 'throw';

/** A read after a failed reload is served the value all the same, or throws. */
export type WhenFailing = 'serve' | 'throw';

/** All that a decision depends on beside the entry and the time. */
export interface DecisionRules {
  readonly runState: RunState;
  readonly whenTooStale: WhenTooStale;
  readonly whenFailing: WhenFailing;
}

type Times = Pick<
  Entry<unknown>,
  | 'isLoaded'
  | 'lastError'
  | 'flight'
  | 'dueAt'
  | 'loadedAt'
  | 'maxStalenessMs'
  | 'coolDownUntil'
  | 'deferredUntil'
>;

/**
 * Decides what a read does. Total and pure: it reads no clock, starts nothing and never throws.
 *
 * @param now the monotonic clock in milliseconds.
 * @param ownMs the `maxStaleness` of this read. Where it is the shortest, the read waits, whatever the rules say.
 */
export function decide(entry: Times, rules: DecisionRules, now: number, ownMs: number = Infinity): Decision {
  const mayLoad = !isBusy(entry) && rules.runState === 'open' && now >= entry.coolDownUntil;
  const mayStart = mayLoad && now >= entry.deferredUntil;
  const isTooOld = isTooStale(entry, now, ownMs);
  const isFailing = isRefusedAsFailing(entry, rules);
  const waits = ownMs < entry.maxStalenessMs || (rules.whenTooStale === 'wait' && !isFailing);
  if (!entry.isLoaded || (isTooOld && waits)) {
    return entry.flight !== undefined || mayLoad ? 'wait-for-load' : 'reject';
  }
  if (isTooOld || isFailing) return mayStart ? 'reject-and-start' : 'reject';
  return mayStart && now >= entry.dueAt ? 'serve-and-start' : 'serve';
}

/** There is a value that a read may be served now, whatever loads do. */
export function mayServe(
  entry: Pick<Times, 'isLoaded' | 'lastError' | 'loadedAt' | 'maxStalenessMs'>,
  rules: Pick<DecisionRules, 'whenFailing'>,
  now: number,
): boolean {
  return entry.isLoaded && !isRefusedAsFailing(entry, rules) && !isTooStale(entry, now);
}

/**
 * Decides what follows a load that was superseded. Pure, as {@link decide}.
 *
 * @param awaits the next load is waited for: by readers, or by a caller that has asked for it (`forced`), in spite of a cool-down or a
 * pause. `undefined`: it is not, so that it runs behind, where it is due; others may wait for the end.
 */
export function decideNext(
  entry: Times,
  rules: DecisionRules,
  now: number,
  awaits: 'read' | 'forced' | undefined,
): Exclude<Decision, 'reject-and-start'> {
  if (rules.runState === 'closed') return 'reject';
  if (awaits === 'forced') return 'wait-for-load';
  if (awaits === 'read') return decide(entry, rules, now, 0) === 'wait-for-load' ? 'wait-for-load' : 'reject';
  const decision = decide(entry, rules, now);
  return decision === 'serve' || decision === 'reject' ? 'serve' : 'serve-and-start';
}

/**
 * A read now would be refused: there is a value that must not be served, or none, and the last load has failed or no load may
 * start. Not where it would wait for the first load, nor of an absent key.
 */
export function refusesReads(entry: Times, rules: DecisionRules, now: number): boolean {
  const decision = decide(entry, rules, now);
  if (entry.isLoaded) return decision === 'reject' || decision === 'reject-and-start';
  return entry.lastError === undefined ? decision === 'reject' : !isTicklessError(entry.lastError, 'ABSENT');
}

/** Its last load has failed, and reads are not to be served the value of before. A schedule that failed is not a load. */
export function isRefusedAsFailing(
  { lastError }: Pick<Times, 'lastError'>,
  { whenFailing }: Pick<DecisionRules, 'whenFailing'>,
): boolean {
  return whenFailing === 'throw' && lastError !== undefined && !isTicklessError(lastError, 'OPTION');
}

/** A load is under way, and nothing has superseded it: it needs no successor. */
export function isBusy({ flight }: Pick<Times, 'flight'>): boolean {
  return flight !== undefined && flight.outdatedBy === undefined;
}

/**
 * The instant from which a load may be started for an entry that is not being read: `aheadMs` before it is due, but
 * not in the first half of its period, and not during its cool-down.
 */
export function startableFrom(
  { flight, dueAt, loadedAt, coolDownUntil, deferredUntil }: Times,
  aheadMs: number = 0,
): number {
  if (flight !== undefined) return Infinity;
  const mayFrom = Math.max(coolDownUntil, deferredUntil);
  if (dueAt === -Infinity) return mayFrom;
  return Math.max(dueAt - Math.min(aheadMs, (dueAt - loadedAt) / 2), mayFrom);
}

/** It is due and defers to another instance: a caller that waits for the result may start a load all the same. */
export function isDeferred(entry: Times, runState: RunState, now: number): boolean {
  const mayLoad = entry.flight === undefined && runState === 'open' && now >= entry.coolDownUntil;
  return mayLoad && isDue(entry, now) && now < entry.deferredUntil;
}

/** The next execute time has come. */
export function isDue(entry: Pick<Times, 'dueAt'>, now: number): boolean {
  return now >= entry.dueAt;
}

/** The greatest age, in milliseconds, at which a read is served: that of the member and of the load, or its own if that is shorter. */
export function limitOfRead({ maxStalenessMs }: Pick<Times, 'maxStalenessMs'>, ownMs: number): number {
  return Math.min(ownMs, maxStalenessMs);
}

/**
 * The value is older than the limit of a read. At exactly the limit it is not, unless that is 0. Nor is a task that another
 * instance runs, of which no success is known (its `loadedAt` is `-Infinity`).
 *
 * @param ownMs the `maxStaleness` of the read.
 */
export function isTooStale(
  entry: Pick<Times, 'loadedAt' | 'maxStalenessMs'>,
  now: number,
  ownMs: number = Infinity,
): boolean {
  const age = now - entry.loadedAt;
  return (age > limitOfRead(entry, ownMs) || ownMs === 0) && age < Infinity;
}
