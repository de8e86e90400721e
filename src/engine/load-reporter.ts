import { isLoadError, isLoadTimeoutError, showKey } from '../errors.ts';
import type { Events, LoadEndDetails } from '../observe/events.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { Adopted } from './elsewhere.ts';
import { type Entry, keyOf } from './entry.ts';
import type { LoadResult } from './load-result.ts';
import type { CoolingDown } from './timing.ts';

/** Tells listeners and the logger what became of loads. */
export class LoadReporter {
  readonly #policy: ResolvedOptions;
  readonly #events: Events;

  constructor(policy: ResolvedOptions, events: Events) {
    this.#policy = policy;
    this.#events = events;
  }

  succeeded(entry: Entry<unknown>, answer: LoadResult<unknown> | 'absent', end: LoadEndDetails): void {
    if (answer === 'absent') {
      const nextExecuteTime = this.#policy.clock.now() + Math.ceil(this.#policy.absentForMs);
      this.#events.emit('load-succeeded', { ...end, nextExecuteTime, isAbsent: true });
      return;
    }
    const type = answer.outcome === 'kept' ? 'load-kept' : 'load-succeeded';
    this.#events.emit(type, { ...end, nextExecuteTime: entry.nextExecuteTime });
  }

  /** What another instance has loaded is in place; of a task there is nothing to tell. */
  adopted(entry: Entry<unknown>, { version, loadedAt }: Adopted<unknown>['what']): void {
    if (!this.#policy.holdsValue) return;
    const age = this.#policy.clock.monotonic() - loadedAt;
    this.#events.emit('snapshot-adopted', { version, age, ...keyOf(entry) });
  }

  /** @param isHeard a caller who waits for it from the start learns of it. */
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
    // A listener may have ended it, by setting a value.
    if (entry.lastError === error) this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  /** A schedule could not say when to go on, if it could not. */
  brokenSchedule(entry: Entry<unknown>, coolingDown: CoolingDown | undefined): void {
    if (coolingDown === undefined) return;
    const { until, delay, error } = coolingDown;
    this.#policy.logger.error(`executed again from ${instantText(until)} (in ${Math.ceil(delay)} ms)`, error);
    this.#events.emit('cooling-down', { ...coolingDown, ...keyOf(entry) });
  }

  #logFailure(
    type: 'load-failed' | 'load-timed-out',
    { background, attempts, key }: LoadEndDetails,
    { until, delay, error }: CoolingDown,
  ): void {
    const load = key === undefined ? 'load' : `load of ${showKey(key)}`;
    const which = background ? `background ${load}` : `${load} that nobody waits for any more`;
    const what = type === 'load-failed' ? 'failed' : `timed out after ${this.#policy.timeoutMs} ms`;
    const at = attempts === 0 ? 'before it could begin' : `at attempt ${attempts}`;
    const again = `tried again from ${instantText(until)} (in ${Math.ceil(delay)} ms)`;
    const cause = isLoadError(error) || isLoadTimeoutError(error) ? (error.cause ?? error) : error;
    this.#policy.logger.warn(`${which} ${what} ${at}, ${again}`, cause);
  }
}

/** The last instant that a `Date` can hold. */
const LAST_INSTANT = 8.64e15;

function instantText(instant: number): string {
  return new Date(Math.min(instant, LAST_INSTANT)).toISOString();
}
