import { isAbsentError, isOptionError } from '../errors.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { Execution, Schedule } from '../schedule/schedule.ts';
import { clockStep } from '../time/clock-step.ts';
import { CHECK_CLOCKS_EVERY_MS } from '../time/step-watch.ts';
import { coolDownMs } from './cool-down.ts';
import type { Adopted } from './elsewhere.ts';
import type { Entry } from './entry.ts';
import type { ValueMetadata } from './load-result.ts';
import { afterStep, askNextExecution } from './next-execution.ts';
import { retryAfterMs } from './retry-after.ts';

/** What is told of a cool-down that began. */
export interface CoolingDown {
  /** Epoch milliseconds. */
  readonly until: number;
  readonly delay: number;
  readonly failures: number;
  readonly error: Error;
}

/**
 * Keeps the instants of entries: when they were loaded, when they are due, until when they cool down.
 *
 * Durations live on the monotonic clock, calendar instants on the wall clock, and schedules speak wall clock. So an
 * answer is turned into a monotonic instant as soon as it is given. When the wall clock is later found stepped, the
 * schedule is asked again in terms of the new clock: a strategy of durations comes out at the same monotonic
 * instant, a calendar strategy follows the wall clock.
 */
export class Timing {
  schedule: Schedule;
  readonly #policy: ResolvedOptions;
  readonly #nextExecuteTime: (execution: Execution) => number;

  constructor(policy: ResolvedOptions, nextExecuteTime: (execution: Execution) => number) {
    this.schedule = policy.schedule;
    this.#policy = policy;
    this.#nextExecuteTime = nextExecuteTime;
  }

  /**
   * A value has come: its age starts now.
   *
   * @returns the cool-down, if the schedule could not say when to execute next.
   */
  succeeded(
    entry: Entry<unknown>,
    outcome: 'loaded' | 'kept' | 'set',
    said: ValueMetadata,
    startedAt: number,
  ): CoolingDown | undefined {
    const { clock, random } = this.#policy;
    const now = clock.monotonic();
    const wall = clock.now();
    const { scheduledFor } = entry;
    const step = clockStep(entry.clockOffset, wall - now);
    // A kept value is the same value: what was said of it holds on.
    entry.maxStalenessOverrideMs =
      said.maxStalenessMs ?? (outcome === 'kept' ? entry.maxStalenessOverrideMs : undefined);
    entry.loadedAt = now;
    entry.coolDownUntil = entry.deferredUntil = Number.NEGATIVE_INFINITY;
    entry.isInvalidated = false;
    // The schedule is asked last. Should it look at the value, it finds it loaded just now and not due.
    entry.clockOffset = wall - now;
    entry.dueAt = Number.POSITIVE_INFINITY;
    this.#setHorizon(entry, now);
    entry.last = {
      startedAt: wall - Math.round(now - startedAt),
      endedAt: wall,
      since: wall,
      now: wall,
      dueAt: scheduledFor === undefined ? undefined : scheduledFor + step,
      outcome,
      result: entry.value,
      headers: said.headers,
      random,
    };
    const coolingDown = this.#plan(entry, said, now, wall, wall);
    if (coolingDown === undefined) recovered(entry);
    return coolingDown;
  }

  /**
   * A value from elsewhere is in place, so old already, and due then.
   *
   * @param nextExecuteTime epoch milliseconds; an instant that has passed is due.
   */
  restored(entry: Entry<unknown>, ageMs: number, nextExecuteTime: number, maxStalenessMs?: number): void {
    this.#restored(entry, ageMs, nextExecuteTime, maxStalenessMs, 0);
    entry.isScheduled = true; // once, by the schedule
    entry.scheduledFor = Number.isFinite(nextExecuteTime) ? nextExecuteTime : undefined;
  }

  /** As {@link restored}, from another instance of the cluster, which has the same schedule. */
  adopted(
    entry: Entry<unknown>,
    {
      loadedAt,
      dueAt,
      took,
      maxStalenessMs,
      isDueSaid,
    }: Omit<Adopted<unknown>['what'], 'value' | 'isAbsent'>,
  ): void {
    const { clock } = this.#policy;
    const now = clock.monotonic();
    const nextExecuteTime = clock.now() + Math.ceil(dueAt - now);
    recovered(entry);
    entry.isInvalidated = false;
    entry.coolDownUntil = entry.deferredUntil = Number.NEGATIVE_INFINITY;
    this.#restored(entry, now - loadedAt, nextExecuteTime, maxStalenessMs, took);
    entry.isScheduled = !isDueSaid;
    entry.scheduledFor = isDueSaid || !Number.isFinite(nextExecuteTime) ? undefined : nextExecuteTime;
  }

  /** Somebody else is at it, or has been: nobody starts anything behind him before that has passed. */
  stoodBy(entry: Entry<unknown>, forMs: number): void {
    const { clock, holdsValue } = this.#policy;
    const now = clock.monotonic();
    entry.deferredUntil = now + forMs;
    if (holdsValue || entry.isLoaded) return;
    // A task that runs elsewhere: here it has been seen to, and is due again then.
    entry.isLoaded = true;
    entry.promise = Promise.resolve(undefined);
    entry.dueAt = now + forMs;
    entry.nextExecuteTime = clock.now() + Math.ceil(forMs);
    this.#setHorizon(entry, now);
  }

  #restored(
    entry: Entry<unknown>,
    ageMs: number,
    nextExecuteTime: number,
    maxStalenessMs: number | undefined,
    took: number,
  ): void {
    const { clock, random } = this.#policy;
    const now = clock.monotonic();
    const wall = clock.now();
    const endedAt = wall - ageMs;
    const last = { startedAt: endedAt - took, endedAt, since: endedAt, now: endedAt, random } as const;
    entry.loadedAt = now - ageMs;
    entry.maxStalenessOverrideMs = maxStalenessMs;
    entry.last = { ...last, dueAt: undefined, outcome: 'loaded', result: entry.value };
    this.#plan(entry, { nextExecuteTime }, now, wall, Number.NEGATIVE_INFINITY);
  }

  /** A load has failed: no read starts another before the end of the cool-down. */
  failed(entry: Entry<unknown>, error: Error): CoolingDown {
    const { clock } = this.#policy;
    const coolingDown = this.#coolDown(entry, error, retryAfterMs(error, clock.now()));
    entry.coolDownUntil = clock.monotonic() + coolingDown.delay;
    return coolingDown;
  }

  /** The source has no such key: it is not asked again for that long. */
  absent(entry: Entry<unknown>, absentForMs: number): void {
    const now = this.#policy.clock.monotonic();
    recovered(entry);
    entry.isInvalidated = false;
    entry.loadedAt = now;
    entry.dueAt = entry.freshUntil = Number.NEGATIVE_INFINITY;
    entry.coolDownUntil = now + absentForMs;
  }

  invalidated(entry: Entry<unknown>): void {
    entry.isInvalidated = true;
    entry.isScheduled = false; // a step of the clock changes nothing about it
    entry.dueAt = entry.freshUntil = Number.NEGATIVE_INFINITY;
    entry.deferredUntil = Number.NEGATIVE_INFINITY;
    if (entry.shared !== undefined) entry.shared.awaits = undefined; // what others are at began before
    if (isAbsentError(entry.lastError)) {
      recovered(entry); // the source may have the key by now
      entry.coolDownUntil = Number.NEGATIVE_INFINITY;
    }
  }

  /** Another schedule holds from now on; an instant that it finds passed is due. */
  rescheduled(entry: Entry<unknown>): CoolingDown | undefined {
    if (entry.shared !== undefined) entry.shared.passesHold = true; // that of the schedule before
    entry.deferredUntil = Number.NEGATIVE_INFINITY;
    if (entry.last === undefined || entry.isInvalidated) return undefined;
    const { clock } = this.#policy;
    const now = clock.monotonic();
    const wall = clock.now();
    entry.last = {
      ...afterStep(entry.last, clockStep(entry.clockOffset, wall - now), wall),
      dueAt: undefined,
    };
    const coolingDown = this.#plan(entry, {}, now, wall, Number.NEGATIVE_INFINITY);
    if (coolingDown === undefined && isOptionError(entry.lastError)) recovered(entry);
    return coolingDown;
  }

  /** Has the wall clock been stepped since the last comparison? Then the due time is computed anew. */
  compareClocks(entry: Entry<unknown>, now: number): CoolingDown | undefined {
    const wall = this.#policy.clock.now();
    const step = clockStep(entry.clockOffset, wall - now);
    if (entry.last === undefined || step === 0) return this.#setHorizon(entry, now);
    entry.last = afterStep(entry.last, step, wall);
    if (entry.isScheduled) {
      const answered = entry.scheduledFor === undefined ? undefined : entry.scheduledFor + step;
      return this.#plan(entry, {}, now, wall, Number.NEGATIVE_INFINITY, answered);
    }
    entry.nextExecuteTime += step;
    if (entry.scheduledFor !== undefined) entry.scheduledFor += step;
    entry.clockOffset = wall - now;
    return this.#setHorizon(entry, now);
  }

  /** When a read will start a load, in epoch milliseconds; not in the future when it would at once. */
  nextExecuteTime(entry: Entry<unknown>, now: number): number {
    const { dueAt } = entry;
    const wall = this.#policy.clock.now();
    const mayFrom = Math.max(entry.coolDownUntil, entry.deferredUntil);
    if (mayFrom > now && mayFrom >= dueAt) return wall + Math.ceil(mayFrom - now);
    return entry.last === undefined || entry.isInvalidated ? wall : entry.nextExecuteTime;
  }

  /** Sets the due time and age limit of the entry from what the load said, else the schedule, else the cool-down. */
  #plan(
    entry: Entry<unknown>,
    said: ValueMetadata,
    now: number,
    wall: number,
    after: number,
    answered?: number,
  ): CoolingDown | undefined {
    const last = entry.last as Execution;
    const maxStaleness = entry.maxStalenessOverrideMs ?? this.#scheduledMaxStaleness(last);
    const execution = { ...last, maxStaleness, answered };
    const isScheduled = said.nextExecuteTime === undefined;
    const ask = isScheduled ? this.#nextExecuteTime : () => said.nextExecuteTime as number;
    const option = isScheduled ? 'schedule' : 'nextExecuteTime';
    const next = askNextExecution(ask, execution, after, {
      option,
      cacheName: this.#policy.name,
      key: entry.key,
    });
    const coolingDown = next.kind === 'broken' ? this.#coolDown(entry, next.error, 0) : undefined;
    const instant = next.kind === 'at' ? next.nextExecuteTime : (coolingDown as CoolingDown).until;
    entry.isScheduled = isScheduled && next.kind === 'at';
    if (entry.isScheduled) entry.scheduledFor = Number.isFinite(instant) ? instant : undefined;
    entry.maxStalenessMs = maxStaleness;
    // At its age limit a value is due, whatever the schedule says.
    entry.nextExecuteTime = Math.min(instant, wall + (entry.loadedAt + entry.maxStalenessMs - now));
    entry.dueAt = now + (entry.nextExecuteTime - wall);
    entry.clockOffset = wall - now;
    this.#setHorizon(entry, now);
    if (entry.isInvalidated) this.invalidated(entry); // by the schedule itself
    return coolingDown;
  }

  #scheduledMaxStaleness(execution: Execution): number {
    const { maxStalenessMs, logger } = this.#policy;
    try {
      const ms = this.schedule.maxStaleness?.(execution);
      if (ms === undefined) return maxStalenessMs;
      if (typeof ms === 'number' && ms > 0) return Math.min(ms, maxStalenessMs);
      logger.error('maxStaleness of the schedule must be a number over 0', ms);
    } catch (error) {
      logger.error('maxStaleness of the schedule threw', error);
    }
    return maxStalenessMs;
  }

  #coolDown(entry: Entry<unknown>, error: Error, leastMs: number): CoolingDown {
    const { clock, coolDown, random } = this.#policy;
    entry.failures += 1;
    entry.lastError = error;
    const delay = Math.max(leastMs, coolDownMs(coolDown, entry.failures, random()));
    return { until: clock.now() + Math.ceil(delay), delay, failures: entry.failures, error };
  }

  #setHorizon(entry: Entry<unknown>, now: number): undefined {
    entry.lookAt = now + CHECK_CLOCKS_EVERY_MS;
    const until = Math.min(entry.dueAt, entry.lookAt);
    entry.freshUntil = until > now ? until : Number.NEGATIVE_INFINITY; // also for the instant that a burst has kept
  }
}

function recovered(entry: Entry<unknown>): void {
  entry.failures = 0;
  entry.lastError = undefined;
}
