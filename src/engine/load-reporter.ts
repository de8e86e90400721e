import { isOfBackup } from '../data/backup.ts';
import type { ExecutionStart } from '../data/execution-record.ts';
import { type ErrorCode, failureText, isTicklessError, showKey } from '../errors.ts';
import { UNREAD_AFTER_MS } from '../observe/outage.ts';
import { OutageLog, type ServedState } from '../observe/outage-log.ts';
import { showDuration } from '../time/show-duration.ts';
import { showInstant } from '../time/show-instant.ts';
import type { CoolingDown } from './cool-down.ts';
import { type DecisionRules, isRefusedAsFailing, mayServe } from './decide.ts';
import type { Entry } from './entry.ts';
import type { FlightEnd } from './flight.ts';
import { limitIn } from './read-errors.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Mistakes, absent keys and reads after `close()`. */
const NOT_LOGGED: readonly ErrorCode[] = ['OPTION', 'ABSENT', 'CLOSED'];

type FailedEnd = Pick<FlightEnd<unknown>, 'kind' | 'attempts'>;

/** Reports the failures of loads to the logger, with what they mean for reads. */
export class LoadReporter {
  readonly #options: ResolvedOptions;
  readonly #rules: DecisionRules;
  /** The failures of loads and of the schedule, and refused reads, from the first one on. */
  #loads: OutageLog | undefined;
  #schedule: OutageLog | undefined;
  /** The last success that left no outage open (monotonic). */
  #wellAt = -Infinity;

  constructor(options: ResolvedOptions, rules: DecisionRules) {
    this.#options = options;
    this.#rules = rules;
  }

  /** The outages of loads, of all keys together. */
  get #ofLoads(): OutageLog {
    const { logger, clock, kind } = this.#options;
    const reads = kind === 'task' ? 'requests' : 'reads';
    this.#loads ??= new OutageLog(logger, clock, { recovered: 'recovered', reads });
    return this.#loads;
  }

  /** Reads of the member, or of a key of it, were refused, and there was no success since. */
  get isRefusing(): boolean {
    return this.#loads?.isRefusing === true;
  }

  /** Reads got an error. Mistakes, absent keys and reads after `close()` are not logged. */
  refused(entry: Entry<unknown>, error: unknown, times: number): void {
    const isOutage = isTicklessError(error) && !NOT_LOGGED.includes(error.code);
    if (!isOutage) return;
    const limit = isTicklessError(error, 'TOO_STALE') ? `maxStaleness ${limitIn(error)}` : undefined;
    const state = (): ServedState => this.#stateOf(entry);
    const retryAt = Math.max(entry.coolDownUntil, this.#options.clock.monotonic());
    const cause = error.cause ?? (entry.flight === undefined ? undefined : error); // which says what it has waited for
    this.#ofLoads.refused({ id: entry.id, retryAt, cause, state, limit }, times);
  }

  #stateOf(entry: Entry<unknown>): ServedState {
    const { kind, clock } = this.#options;
    return servedState(entry, this.#rules, kind === 'task', clock.monotonic());
  }

  /** The entry has a result. It comes before the events of that result. */
  recovered(entry: Entry<unknown>, isScheduleBroken: boolean): void {
    this.#loads?.succeeded(entry.id, entry.isLoaded && isOfBackup(entry.last?.meta));
    if (!isScheduleBroken) this.#schedule?.succeeded(entry.id);
    if (this.#loads?.isOpen !== true) this.#wellAt = this.#options.clock.monotonic();
  }

  /** The last load of the key failed. By the rule of the log: not a key that is no longer read, once others are loaded. */
  isFailing({ failures, coolDownUntil }: Entry<unknown>): boolean {
    return failures > 0 && this.#wellAt - coolDownUntil < UNREAD_AFTER_MS;
  }

  failed(entry: Entry<unknown>, start: ExecutionStart, end: FailedEnd, coolingDown: CoolingDown): void {
    const { error } = coolingDown;
    const { clock, kind } = this.#options;
    // An outage of the lock is logged once, for all members. A task that does not run is more than that.
    const isLogged =
      isTicklessError(error, 'BACKEND_DOWN') && kind !== 'task' && this.#stateOf(entry).isServed;
    if (!isLogged)
      this.#ofLoads.failed({
        id: entry.id,
        retryAt: clock.monotonic() + coolingDown.delay,
        state: () => this.#stateOf(entry),
        text: (others) => this.#textOf(start, end, coolingDown, others),
        cause: isTicklessError(error, 'TIMED_OUT')
          ? error.cause
          : isTicklessError(error, 'LOAD_FAILED')
            ? (error.cause ?? error)
            : error,
      });
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
  }

  #textOf(
    { background, key }: ExecutionStart,
    { kind, attempts }: FailedEnd,
    { until, error }: CoolingDown,
    others: string,
  ): string {
    const noun = this.#options.kind === 'task' ? 'run' : background ? 'background load' : 'load';
    const load = `${noun}${ofKey(key, others)}`;
    const isLate = kind === 'timed-out';
    const what = isLate ? `timed out after ${showDuration(this.#options.timeoutMs)}` : 'failed';
    const at = `${attempts === 0 ? 'before it began' : `at attempt ${attempts}`}${isLate ? waitedForIn(error) : ''}`;
    const left = until - this.#options.now();
    const next =
      left > 0 ? `next try in ${showDuration(left)} (${showInstant(until)})` : 'next try with a read';
    return `${load} ${what} ${at}, ${next}`;
  }
}

/** The thing for which the load waited at its deadline, by its error. */
function waitedForIn(error: Error): string {
  return /^load timed out after [^,]*(, .*)$/.exec(failureText(error))?.[1] ?? '';
}

function ofKey(key: unknown, others: string): string {
  return key === undefined ? '' : ` of ${showKey(key)}${others}`;
}

/** For people: whether reads of the entry are served now, the age of the value, and its limit. */
function servedState(entry: Entry<unknown>, rules: DecisionRules, isTask: boolean, now: number): ServedState {
  const { key, isLoaded, maxStalenessMs, flight } = entry;
  const limit =
    maxStalenessMs < Infinity ? `maxStaleness is ${showDuration(maxStalenessMs)}` : 'without maxStaleness';
  const parts = [
    isTask
      ? lastSuccess(entry, now)
      : `${valueText(entry, now)}${key === undefined ? '' : ` (${showKey(key)})`}`,
    ...(isLoaded ? [limit] : []),
    ...(isLoaded && isRefusedAsFailing(entry, rules) ? ['whenFailing is throw'] : []),
    ...(rules.runState === 'open' ? [] : [`it is ${rules.runState}`]),
    ...(flight === undefined ? [] : [`a load is under way for ${showDuration(now - flight.startedAt)}`]),
  ];
  return { isServed: mayServe(entry, rules, now), text: parts.join(', ') };
}

function valueText({ isLoaded, loadedAt }: Entry<unknown>, now: number): string {
  if (!isLoaded) return 'there is no value';
  return `the value is ${showDuration(now - loadedAt)} old`;
}

function lastSuccess({ isLoaded, loadedAt }: Entry<unknown>, now: number): string {
  if (!isLoaded || loadedAt === -Infinity) return 'no success is known here';
  return `the last success was ${showDuration(now - loadedAt)} ago`;
}
