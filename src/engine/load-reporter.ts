import { isLoadError, isLoadTimeoutError, showKey } from '../errors.ts';
import type { CoolingDown, Events, LoadEndDetails } from '../observe/events.ts';
import { showDuration } from '../time/show-duration.ts';
import { type Entry, keyOf } from './entry.ts';
import type { LoadResult } from './load-result.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Reports how loads have ended: to listeners, and failures to the logger. */
export class LoadReporter {
  readonly #options: ResolvedOptions;
  readonly #events: Events;

  constructor(options: ResolvedOptions, events: Events) {
    this.#options = options;
    this.#events = events;
  }

  succeeded(entry: Entry<unknown>, result: LoadResult<unknown> | 'absent', end: LoadEndDetails): void {
    if (result === 'absent') {
      const nextExecuteTime = this.#options.now() + Math.ceil(this.#options.absentForMs);
      this.#events.emit('load-succeeded', { ...end, nextExecuteTime, isAbsent: true });
      return;
    }
    const type = result.outcome === 'kept' ? 'load-kept' : 'load-succeeded';
    if (this.#events.has(type)) this.#events.emit(type, { ...end, nextExecuteTime: entry.nextExecuteTime });
  }

  /** @param isHeard a caller that has waited from the start gets the error. */
  failed(
    entry: Entry<unknown>,
    type: 'load-failed' | 'load-timed-out',
    end: LoadEndDetails,
    coolingDown: CoolingDown,
    isHeard: boolean,
  ): void {
    const { error } = coolingDown;
    if (!isHeard && !this.#events.has(type)) this.#logFailure(type, end, coolingDown);
    this.#events.emit(type, { ...end, error });
    // A listener may have ended the cool-down by setting a value.
    if (entry.lastError === error) this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  /** The schedule threw, or returned what is not a future instant. */
  brokenSchedule(entry: Entry<unknown>, coolingDown: CoolingDown): void {
    const { delay, error } = coolingDown;
    this.#options.logger.error(`next load in ${showDuration(delay)}`, error);
    this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  #logFailure(
    type: 'load-failed' | 'load-timed-out',
    { background, attempts, key }: LoadEndDetails,
    { until, delay, error }: CoolingDown,
  ): void {
    const load = `${background ? 'background load' : 'load'}${key === undefined ? '' : ` of ${showKey(key)}`}`;
    const which = background ? load : `${load} without a waiting caller`; // they have left
    const what =
      type === 'load-failed' ? 'failed' : `timed out after ${showDuration(this.#options.timeoutMs)}`;
    const at = attempts === 0 ? 'before it began' : `at attempt ${attempts}`;
    const again = `next try in ${showDuration(delay)} (${instantText(until)})`;
    const cause = isLoadError(error) || isLoadTimeoutError(error) ? (error.cause ?? error) : error;
    this.#options.logger.warn(`${which} ${what} ${at}, ${again}`, cause);
  }
}

/** The last instant that a `Date` can represent. */
const LAST_INSTANT = 8.64e15;

function instantText(instant: number): string {
  return new Date(Math.min(instant, LAST_INSTANT)).toISOString();
}
