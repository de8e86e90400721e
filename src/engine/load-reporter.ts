import { failureText, isLoadError, isLoadTimeoutError, isValueRejectedError, showKey } from '../errors.ts';
import type { CoolingDown, LoadEndDetails } from '../observe/events.ts';
import type { Events } from '../observe/member-events.ts';
import { OutageLog } from '../observe/outage-log.ts';
import { showDuration } from '../time/show-duration.ts';
import { type Entry, keyOf } from './entry.ts';
import type { LoadResult } from './load-result.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Reports how loads have ended: to listeners, and failures to the logger. */
export class LoadReporter {
  readonly #options: ResolvedOptions;
  readonly #events: Events;
  /** The failures of loads and of the schedule, from the first one on. */
  #loads: OutageLog | undefined;
  #schedule: OutageLog | undefined;

  constructor(options: ResolvedOptions, events: Events) {
    this.#options = options;
    this.#events = events;
  }

  /** The entry has a result. It comes before the events of that result. */
  recovered(entry: Entry<unknown>, isScheduleBroken: boolean): void {
    this.#loads?.succeeded(entry.id);
    if (!isScheduleBroken) this.#schedule?.succeeded(entry.id);
  }

  succeeded(entry: Entry<unknown>, result: LoadResult<unknown> | 'absent', end: LoadEndDetails): void {
    this.#events.counters.loading.add(end.duration);
    if (result === 'absent') {
      const nextExecuteTime = this.#options.now() + Math.ceil(this.#options.absentForMs);
      this.#events.emit('load-succeeded', { ...end, nextExecuteTime, isAbsent: true });
      return;
    }
    const type = result.origin === 'kept' ? 'load-kept' : 'load-succeeded';
    this.#events.emit(type, () => {
      const nextExecuteTime = entry.isInvalidated ? this.#options.now() : entry.nextExecuteTime;
      const meta = entry.last?.meta;
      return { ...end, nextExecuteTime, ...(meta && { meta }) };
    });
  }

  /** @param reachedCaller a caller that has waited from the start gets the error. */
  failed(
    entry: Entry<unknown>,
    type: 'load-failed' | 'load-timed-out',
    end: LoadEndDetails,
    coolingDown: CoolingDown,
    reachedCaller: boolean,
  ): void {
    const { error } = coolingDown;
    const { logger, clock } = this.#options;
    this.#loads ??= new OutageLog(logger, clock, { recovered: 'recovered' });
    this.#loads.failed({
      id: entry.id,
      reachedCaller,
      retryAt: clock.monotonic() + coolingDown.delay,
      text: (others) => this.#textOf(type, end, coolingDown, others),
      cause: isLoadError(error) || isLoadTimeoutError(error) ? (error.cause ?? error) : error,
    });
    if (end.attempts > 0) this.#events.counters.loading.add(end.duration);
    this.#events.emit(type, () => ({ ...end, error }));
    if (isValueRejectedError(error)) {
      const { reason, size, previousSize } = error;
      this.#events.emit('value-rejected', { reason, size, previousSize, error, ...keyOf(entry) });
    }
    // A listener may have ended the cool-down by setting a value.
    if (entry.lastError === error) this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  /** The schedule threw, or returned what is not a future instant. */
  brokenSchedule(entry: Entry<unknown>, coolingDown: CoolingDown): void {
    const { delay, error } = coolingDown;
    const { logger, clock } = this.#options;
    this.#schedule ??= new OutageLog(logger, clock, {
      level: 'error',
      recovered: 'the schedule has recovered',
    });
    this.#schedule.failed({
      id: entry.id,
      retryAt: clock.monotonic() + delay,
      text: (others) => `next load${ofKey(entry.key, others)} in ${showDuration(delay)}`,
      cause: error,
    });
    this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  #textOf(
    type: 'load-failed' | 'load-timed-out',
    { background, attempts, key }: LoadEndDetails,
    { until, delay, error }: CoolingDown,
    others: string,
  ): string {
    const load = `${background ? 'background load' : 'load'}${ofKey(key, others)}`;
    const which = background ? load : `${load} without a waiting caller`; // they have left
    const what =
      type === 'load-failed'
        ? 'failed'
        : `timed out after ${showDuration(this.#options.timeoutMs)}${waitedForIn(error)}`;
    const at = attempts === 0 ? 'before it began' : `at attempt ${attempts}`;
    return `${which} ${what} ${at}, next try in ${showDuration(delay)} (${instantText(until)})`;
  }
}

/** What the load waited for at its deadline, by its error. */
function waitedForIn(error: Error): string {
  return /^load timed out after [^,]*(, .*)$/.exec(failureText(error))?.[1] ?? '';
}

function ofKey(key: unknown, others: string): string {
  return key === undefined ? '' : ` of ${showKey(key)}${others}`;
}

/** The last instant that a `Date` can represent. */
const LAST_INSTANT = 8.64e15;

function instantText(instant: number): string {
  return new Date(Math.min(instant, LAST_INSTANT)).toISOString();
}
