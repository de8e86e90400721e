import { isOfBackup } from '../data/backup.ts';
import { isTicklessError } from '../errors.ts';
import { optionError } from '../option-error.ts';
import { methodOf } from '../plain-object.ts';
import type { Execution, Schedule } from '../schedule/schedule.ts';
import { type StoredHeaders, withFields } from '../schedule/stored-headers.ts';
import { clockStep } from '../time/clock-step.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { showDuration } from '../time/show-duration.ts';
import { CHECK_CLOCKS_EVERY_MS } from '../time/step-watch.ts';
import { type CoolingDown, cappedByPeriod, coolDownMs } from './cool-down.ts';
import { isRefusedAsFailing } from './decide.ts';
import type { Entry } from './entry.ts';
import type { LoadResult, ValueMetadata } from './load-result.ts';
import {
  afterStep,
  askedExecution,
  askNextExecution,
  type LastExecution,
  shorterLimit,
} from './next-execution.ts';
import { absentError } from './read-errors.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import { retryAfterMs } from './retry-after.ts';
import { retryWithinMs } from './retry-within.ts';

/** The metadata of the load of a value from elsewhere. */
export interface AboutRestored extends Pick<LastExecution, 'meta' | 'isLimitScheduled'> {
  readonly headers: StoredHeaders | undefined;
}

/** The times of a snapshot of another instance. Durations are milliseconds. */
export interface AdoptedTimes extends AboutRestored {
  readonly ageMs: number;
  /** Epoch milliseconds. */
  readonly nextExecuteTime: number;
  /** The age limit that its load returned, if any. */
  readonly maxStalenessMs: number | undefined;
  /** How long its load took. */
  readonly took: number;
  /** The due time comes from the load, not from the schedule. */
  readonly isDueTimeOverridden: boolean;
  readonly isPinned: boolean;
}

/**
 * Computes the instants of entries: when they were loaded, when they are due, until when they cool down.
 *
 * Durations live on the monotonic clock, calendar instants and schedules on the wall clock. So the
 * schedule's result is converted to a monotonic instant at once. When the wall clock is later found stepped, the
 * schedule is asked again in terms of the new clock: a strategy of durations returns the same monotonic instant, a
 * calendar strategy follows the wall clock.
 */
export class Timing {
  schedule: Schedule;
  /** When it took the place of another one (monotonic): the holds of rounds that ended before came from that. */
  scheduledAt: number = -Infinity;
  readonly #options: ResolvedOptions;
  readonly #nextExecuteTime: (execution: Execution) => number;
  /** The schedule that was warned about: once for all keys of a cache. */
  #warnedOf: Schedule | undefined;

  constructor(options: ResolvedOptions, nextExecuteTime: (execution: Execution) => number) {
    this.schedule = options.schedule;
    this.#options = options;
    this.#nextExecuteTime = nextExecuteTime;
  }

  /** Another schedule applies from now on: each entry is to be {@link rescheduled}. */
  replaceSchedule(schedule: Schedule): void {
    this.schedule = schedule;
    this.scheduledAt = this.#options.clock.monotonic();
  }

  /**
   * A value was loaded, kept or set: its age starts now.
   *
   * @returns the cool-down, if the schedule failed.
   */
  succeeded(
    entry: Entry<unknown>,
    { origin, metadata }: Omit<LoadResult<unknown>, 'value'>,
    startedAt: number,
  ): CoolingDown | undefined {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    const wall = this.#options.now();
    const { scheduledFor } = entry;
    const step = clockStep(entry.clockOffset, wall - now);
    const { maxStalenessMs: ofLoadMs } = metadata;
    // A kept value is the same value: the age limit of its load stays.
    const isLimitKept = origin === 'kept' && !entry.last?.isLimitScheduled;
    if (ofLoadMs !== undefined || !isLimitKept) {
      entry.maxStalenessOverrideMs = ofLoadMs && shorterLimit(ofLoadMs, this.#options.maxStalenessMs);
    }
    entry.loadedAt = now;
    entry.coolDownUntil = entry.deferredUntil = -Infinity;
    entry.isInvalidated = false;
    entry.clockOffset = wall - now;
    // The schedule is asked last. If it reads the value, the value is loaded and not due.
    entry.setDue(Infinity, now, now + CHECK_CLOCKS_EVERY_MS);
    entry.last = {
      startedAt: wall - Math.round(now - startedAt),
      endedAt: wall,
      since: wall,
      now: wall,
      dueAt: scheduledFor === undefined ? undefined : scheduledFor + step,
      outcome: origin,
      result: entry.value,
      headers: metadata.headers,
      random,
      meta: metadata.meta ?? (origin === 'kept' ? entry.last?.meta : undefined),
      isLimitScheduled: false,
    };
    const coolingDown = this.#plan(entry, metadata, now, wall, wall);
    if (coolingDown === undefined && entry.lastError !== undefined) entry.clearFailures();
    return coolingDown;
  }

  /**
   * An initial value, or one from another instance, is in place, with its age and its due time.
   *
   * @param nextExecuteTime epoch milliseconds; an instant that has passed is due.
   * @param took how long its load took, in milliseconds.
   * @param about the metadata of its load.
   */
  restored(
    entry: Entry<unknown>,
    ageMs: number,
    nextExecuteTime: number,
    maxStalenessMs: number | undefined,
    took: number = 0,
    { meta, headers, isLimitScheduled = false }: Partial<AboutRestored> = {},
  ): void {
    const now = this.#options.clock.monotonic();
    const wall = this.#options.now();
    entry.isInvalidated = false;
    entry.loadedAt = now - ageMs;
    entry.maxStalenessOverrideMs = maxStalenessMs;
    entry.last = {
      ...this.#executed(wall - ageMs, took),
      result: entry.value,
      headers: headers && withFields(headers),
      meta,
      isLimitScheduled,
    };
    this.#plan(entry, { dueAfterMs: nextExecuteTime - wall }, now, wall, -Infinity);
    entry.isScheduled = !entry.isInitial; // once, by the schedule
    if (entry.isInitial) entry.setDueNow(); // also for a group that has read the clock before
    this.#refuseIfFailing(entry);
    entry.scheduledFor = entry.isScheduled && Number.isFinite(nextExecuteTime) ? nextExecuteTime : undefined;
  }

  /**
   * A task that has never run is not due at once: its schedule, which counts from now, says when. The schedule is asked at the first look, since
   * a subclass that overrides it is still being made.
   */
  firstScheduled(entry: Entry<unknown>): void {
    const now = this.#options.clock.monotonic();
    const wall = this.#options.now();
    entry.loadedAt = now;
    entry.clockOffset = wall - now;
    entry.isScheduled = true;
    entry.last = this.#executed(wall, 0);
  }

  /** An execution elsewhere, or none, that ended at that instant of the wall clock. */
  #executed(endedAt: number, took: number): LastExecution {
    const instants = { startedAt: endedAt - took, endedAt, since: endedAt, now: endedAt, dueAt: undefined };
    const answer = { outcome: 'loaded', result: undefined, headers: undefined, meta: undefined } as const;
    return { ...instants, ...answer, random: this.#options.random, isLimitScheduled: false };
  }

  /** Its value is of now. */
  renewed(entry: Entry<unknown>): void {
    entry.loadedAt = this.#options.clock.monotonic();
  }

  /** A load has failed: reads start no other before the cool-down ends. */
  failed(entry: Entry<unknown>, error: Error): CoolingDown {
    const coolingDown = this.#coolDown(entry, error, retryAfterMs(error, this.#options.clock.now()));
    entry.coolDownUntil = this.#options.clock.monotonic() + coolingDown.delay;
    this.#refuseIfFailing(entry);
    return coolingDown;
  }

  /** Reads are to reject, so none may take the value for fresh; the first one after the cool-down starts a load. */
  #refuseIfFailing(entry: Entry<unknown>): void {
    if (!isRefusedAsFailing(entry, this.#options)) return;
    entry.isScheduled = false; // a step of the clock changes nothing about it
    entry.nextExecuteTime = Math.min(entry.nextExecuteTime, this.#options.now());
    entry.setDueNow();
  }

  /** The end of a load could not be applied. Reads no wall clock and runs no code of the user, which may be at fault. */
  broken(entry: Entry<unknown>, error: Error): void {
    const { clock, coolDown } = this.#options;
    const now = clock.monotonic();
    entry.addFailure(error, now);
    entry.coolDownUntil = now + coolDown.initialMs;
    entry.setDue(entry.coolDownUntil, now, now);
  }

  /** The source does not have the key: reads start no load for `absentForMs`, and reject with an error of that. */
  absent(entry: Entry<unknown>, absentForMs: number): void {
    const now = this.#options.clock.monotonic();
    entry.clearFailures();
    entry.isInvalidated = false;
    entry.loadedAt = now;
    entry.setDueNow();
    entry.coolDownUntil = now + absentForMs;
    entry.lastError = absentError(entry, this.#options);
  }

  /** The snapshot of another instance is in place: see {@link restored}. */
  adopted(
    entry: Entry<unknown>,
    { ageMs, nextExecuteTime, maxStalenessMs, took, ...remote }: AdoptedTimes,
  ): void {
    entry.clearFailures();
    entry.coolDownUntil = entry.deferredUntil = -Infinity;
    this.restored(entry, ageMs, nextExecuteTime, maxStalenessMs, took, remote);
    if (remote.isPinned) entry.deferredUntil = entry.dueAt; // no group looks ahead
    if (!remote.isDueTimeOverridden) return;
    entry.isScheduled = false;
    entry.scheduledFor = undefined;
  }

  /** Another instance is executing: for that time only a caller that waits for the result starts a load. */
  deferred(entry: Entry<unknown>, forMs: number): void {
    entry.deferredUntil = this.#options.clock.monotonic() + forMs;
  }

  /** Another instance executes the task: here it counts as done, and is due again after that time. */
  executedElsewhere(entry: Entry<unknown>, forMs: number): void {
    this.#dueIn(entry, forMs);
  }

  /** The version in place is pinned: it is not due for that time, and no group looks ahead. */
  pinned(entry: Entry<unknown>, forMs: number): void {
    entry.clearFailures();
    entry.coolDownUntil = -Infinity;
    entry.isInvalidated = entry.isScheduled = false;
    this.#dueIn(entry, forMs);
    entry.deferredUntil = entry.dueAt;
  }

  /** The version in place is pinned no longer: it is due, and its own age limit applies again. */
  unpinned(entry: Entry<unknown>, maxStalenessMs: number | undefined): void {
    const { maxStalenessMs: optionMs } = this.#options;
    entry.maxStalenessOverrideMs = shorterLimit(maxStalenessMs, optionMs);
    entry.maxStalenessMs = entry.maxStalenessOverrideMs ?? optionMs;
    this.expected(entry);
  }

  /** Another version is to be served: the next read looks for it. */
  expected(entry: Entry<unknown>): void {
    entry.deferredUntil = -Infinity;
    this.dueFromNow(entry);
  }

  /** It is due, as if it always was. */
  dueAtOnce(entry: Entry<unknown>): void {
    entry.setDueNow();
  }

  /** It is due from now on, whatever the schedule has answered. */
  dueFromNow(entry: Entry<unknown>): void {
    const now = this.#options.clock.monotonic();
    entry.setDue(now, now);
  }

  #dueIn(entry: Entry<unknown>, ms: number): void {
    const now = this.#options.clock.monotonic();
    entry.nextExecuteTime = this.#options.now() + Math.ceil(ms);
    entry.setDue(now + ms, now, now + CHECK_CLOCKS_EVERY_MS);
  }

  /** It is due from that instant on (monotonic): its round was held for a moment longer. */
  heldUntil(entry: Entry<unknown>, instant: number): void {
    entry.setDue(instant, this.#options.clock.monotonic());
  }

  /** A load has succeeded, and its result is not stored: the value was dropped meanwhile. */
  discarded(entry: Entry<unknown>): undefined {
    entry.clearFailures();
    entry.coolDownUntil = entry.deferredUntil = -Infinity;
  }

  invalidated(entry: Entry<unknown>): void {
    entry.isInvalidated = true;
    entry.isScheduled = false; // a step of the clock changes nothing about it
    entry.setDueNow();
    entry.deferredUntil = -Infinity;
    entry.cluster?.invalidated(this.#options.clock.monotonic());
    if (isTicklessError(entry.lastError, 'ABSENT')) {
      entry.clearFailures(); // the source may have the key by now
      entry.coolDownUntil = -Infinity;
    }
  }

  /** The schedule was replaced; an instant that has passed by the new one is due. */
  rescheduled(entry: Entry<unknown>): CoolingDown | undefined {
    entry.deferredUntil = -Infinity;
    if (entry.last === undefined || entry.isInvalidated) return undefined;
    if (entry.isInitial && !entry.isScheduled) return undefined;
    const now = this.#options.clock.monotonic();
    const wall = this.#options.now();
    const step = clockStep(entry.clockOffset, wall - now);
    entry.last = { ...afterStep(entry.last, step, wall), dueAt: undefined };
    const coolingDown = this.#plan(entry, {}, now, wall, -Infinity);
    if (coolingDown === undefined && isTicklessError(entry.lastError, 'OPTION')) entry.clearFailures();
    this.#refuseIfFailing(entry);
    return coolingDown;
  }

  /** Computes the due time anew if the wall clock was stepped since the last comparison. */
  compareClocks(entry: Entry<unknown>, now: number): CoolingDown | undefined {
    const coolingDown = entry.last && this.#afterStep(entry, entry.last, now);
    if (coolingDown === undefined) entry.setDue(entry.dueAt, now, now + CHECK_CLOCKS_EVERY_MS);
    return coolingDown;
  }

  #afterStep(entry: Entry<unknown>, last: LastExecution, now: number): CoolingDown | undefined {
    const wall = this.#options.now();
    const step = clockStep(entry.clockOffset, wall - now);
    const isPlanned = entry.nextExecuteTime > -Infinity;
    if (step === 0 && isPlanned) return undefined;
    entry.last = afterStep(last, step, wall);
    if (entry.isScheduled) {
      const answered = entry.scheduledFor === undefined ? undefined : entry.scheduledFor + step;
      return this.#plan(entry, {}, now, wall, -Infinity, answered);
    }
    entry.nextExecuteTime += step;
    if (entry.scheduledFor !== undefined) entry.scheduledFor += step;
    entry.clockOffset = wall - now;
    return undefined;
  }

  /** In how many milliseconds the value in place is as old as its limit; where it has none, as old as it was to become. */
  outlivedInMs(entry: Entry<unknown>): number {
    const { maxStalenessMs, loadedAt } = entry;
    const limitMs = maxStalenessMs < Infinity ? maxStalenessMs : this.#periodOf(entry);
    return loadedAt + limitMs - this.#options.clock.monotonic();
  }

  /** How long after its load the value in place was due; that of a backup: would have been, by the schedule. */
  #periodOf({ last, nextExecuteTime }: Entry<unknown>): number {
    if (last === undefined) return Infinity;
    if (!isOfBackup(last.meta)) return nextExecuteTime - last.endedAt;
    const next = askNextExecution(
      this.#nextExecuteTime,
      askedExecution(last, Infinity, undefined),
      -Infinity,
    );
    return typeof next === 'number' ? next - last.endedAt : Infinity;
  }

  /** When a read will start a load, in epoch milliseconds; not in the future when a read would do so now. */
  nextExecuteTime(entry: Entry<unknown>, now: number): number {
    const wall = this.#options.now();
    const mayFrom = Math.max(entry.coolDownUntil, entry.deferredUntil);
    if (mayFrom > now && mayFrom >= entry.dueAt) return wall + Math.ceil(mayFrom - now);
    return entry.last === undefined || entry.isInvalidated ? wall : entry.nextExecuteTime;
  }

  /** Sets the due time and the age limit: from the metadata of the load, else the schedule, else the cool-down. */
  #plan(
    entry: Entry<unknown>,
    metadata: ValueMetadata,
    now: number,
    wall: number,
    after: number,
    answered?: number,
  ): CoolingDown | undefined {
    const last = entry.last as LastExecution;
    const maxStaleness =
      entry.maxStalenessOverrideMs ??
      (this.schedule.maxStaleness === undefined ? this.#options.maxStalenessMs : this.#maxStalenessOf(last));
    const { dueAfterMs } = metadata;
    const isScheduled = dueAfterMs === undefined;
    const next = isScheduled
      ? askNextExecution(this.#nextExecuteTime, askedExecution(last, maxStaleness, answered), after)
      : wall + dueAfterMs;
    let coolingDown: CoolingDown | undefined;
    let instant: number;
    if (typeof next === 'number') instant = next;
    else {
      const { rule, received, cause } = next;
      const about = { member: this.#options.name, key: entry.key, cause };
      coolingDown = this.#coolDown(entry, optionError([{ option: 'schedule', rule, received }], about), 0);
      instant = coolingDown.until;
    }
    entry.isScheduled = isScheduled && coolingDown === undefined;
    if (entry.isScheduled) entry.scheduledFor = Number.isFinite(instant) ? instant : undefined;
    entry.maxStalenessMs = maxStaleness;
    // At its age limit a value is due, whatever the schedule returned.
    entry.nextExecuteTime = Math.min(instant, wall + (entry.loadedAt + maxStaleness - now));
    entry.clockOffset = wall - now;
    entry.setDue(now + (entry.nextExecuteTime - wall), now, now + CHECK_CLOCKS_EVERY_MS);
    if (entry.isInvalidated) this.invalidated(entry); // by the schedule itself
    if (entry.isScheduled) this.#warnIfLate(instant - last.endedAt, maxStaleness);
    return coolingDown;
  }

  #warnIfLate(delayMs: number, maxStaleness: number): void {
    if (delayMs < maxStaleness || this.#warnedOf === this.schedule) return;
    const warning = lateScheduleWarning(this.#options, delayMs, maxStaleness);
    if (warning === undefined) return;
    this.#warnedOf = this.schedule;
    this.#options.logger.warn(warning);
  }

  #maxStalenessOf(execution: Execution): number {
    const { maxStalenessMs, logger } = this.#options;
    try {
      const ms = ignoreThenable(methodOf(this.schedule, 'maxStaleness')?.call(this.schedule, execution));
      if (ms === undefined) return maxStalenessMs;
      if (typeof ms === 'number' && ms > 0) return Math.min(ms, maxStalenessMs);
      logger.error('maxStaleness of the schedule must be a number over 0, ignored', ms);
    } catch (error) {
      logger.error('maxStaleness of the schedule threw, ignored', error);
    }
    return maxStalenessMs;
  }

  /** @param leastMs the source asked for. It may be shorter where the load may succeed before. */
  #coolDown(entry: Entry<unknown>, error: Error, leastMs: number): CoolingDown {
    const { random, clock } = this.#options;
    const coolDown = cappedByPeriod(this.#options.coolDown, periodOf(entry));
    entry.addFailure(error, clock.monotonic());
    const span = Math.max(leastMs, coolDownMs(coolDown, entry.failures, random()));
    const delay = Math.min(span, retryWithinMs(error));
    return { until: this.#options.now() + Math.ceil(delay), delay, error };
  }
}

/** How long after its load the schedule wanted the next one, in milliseconds; `NaN` before the first. */
function periodOf({ last, scheduledFor = NaN }: Entry<unknown>): number {
  const ms = last === undefined ? NaN : scheduledFor - last.endedAt;
  return ms > 0 ? ms : NaN;
}

/**
 * The warning about a due time at or beyond `maxStaleness`: a healthy source then lets values get too old. `undefined`
 * where the value is never due by itself, and where the limit is not the option's but that of this value (from its load or
 * its schedule).
 *
 * @param delayMs from the load to the instant of the schedule.
 */
function lateScheduleWarning(
  { maxStalenessMs, whenTooStale }: Pick<ResolvedOptions, 'maxStalenessMs' | 'whenTooStale'>,
  delayMs: number,
  limitMs: number,
): string | undefined {
  const isLate = limitMs === maxStalenessMs && delayMs >= limitMs && delayMs < Infinity;
  if (!isLate) return undefined;
  const due = `due ${showDuration(delayMs)} after the load, maxStaleness is ${showDuration(limitMs)}`;
  const reads = whenTooStale === 'throw' ? 'are refused until the reload has ended' : 'wait for the reload';
  return `${due}: reads beyond that age ${reads}; choose a schedule that is due earlier, or a longer maxStaleness`;
}
