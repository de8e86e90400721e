import {
  isLeaseLostError,
  isLockUnavailableError,
  LoadError,
  LoadTimeoutError,
  type TicklessError,
} from '../errors.ts';
import { Events, type LoadDetails, type LoadEndDetails, loadEnd, type Trigger } from '../observe/events.ts';
import { messageOf } from '../observe/logger.ts';
import { passToPlatform, type WaitUntil } from '../observe/wait-until.ts';
import type { Execution } from '../schedule/schedule.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { showDuration } from '../time/show-duration.ts';
import type { CoordinatedRound, Coordinator, RemoteResult } from './coordinator.ts';
import type { DecisionRules, RunState } from './decide.ts';
import { inDetachedContext } from './detached-context.ts';
import type { EngineOptions } from './engine-options.ts';
import { type Entry, takeWaiters, waitersOf } from './entry.ts';
import type { EntryOwner, KeyedOwner } from './entry-owner.ts';
import { Flight, type Outcome } from './flight.ts';
import { type LoadContext, TryContext } from './load-context.ts';
import { LoadReporter } from './load-reporter.ts';
import { type KeyedAnswer, type LoadResult, readLoadResult } from './load-result.ts';
import { neverTriggers, type PiggybackTrigger } from './piggyback-trigger.ts';
import { absentError, closedError } from './read-errors.ts';
import { retryAfterMs } from './retry-after.ts';
import { Timing } from './timing.ts';
import type { LoadHandle, Waiters } from './waiters.ts';

/** The rules for reads and requests. They change while the engine lives. */
export interface ReadRules extends DecisionRules {
  runState: RunState;
  /** Lets reads start other members of the group that are due. Each fresh read checks it. */
  piggyback: PiggybackTrigger;
}

/** The function that loads or executes; the same for a value, a key or a task. */
export type Load<T> = (
  context: LoadContext,
  entry: Entry<T>,
  abort: LazyAbort,
) => KeyedAnswer<T> | PromiseLike<KeyedAnswer<T>>;

/** How long `close()` waits for aborted loads to release their leases. */
const RELEASE_GRACE_MS = 1000;

/**
 * Starts loads for entries and applies their results.
 *
 * Two callers and one due entry:
 *
 *  1. caller A finds no flight; one is put into the entry before any code of the load runs;
 *  2. caller B, whenever it comes, finds that flight, and is served or waits for the same one;
 *  3. the flight settles: it leaves the entry first, with all waiters; then its outcome is applied, then events are
 *     emitted, then the waiters are settled. A listener or waiter that reads at once finds the new state, and a load
 *     that is requested from within an event is a new one;
 *  4. a flight that was ended before by `invalidate`, `set` or the deadline has left the entry already, and its result
 *     counts as late.
 */
export class Loader<T> {
  readonly options: EngineOptions;
  readonly events: Events;
  readonly timing: Timing;
  /** `undefined` without a lock and a store. */
  readonly coordinator: Coordinator | undefined;
  /** Whether reads may start loads, and the options that decide on reads. */
  readonly rules: ReadRules;
  /** The owner of the entries, where it must know what happens to them. */
  owner: EntryOwner<T> | undefined = undefined;
  /** The same, where the entries are those of many keys. */
  keys: KeyedOwner<T> | undefined = undefined;
  readonly #load: Load<T>;
  readonly #reporter: LoadReporter;
  /** The entries with a flight under way. */
  readonly #busy: Set<Entry<T>> = new Set();
  /** The rounds under way: also after a flight has settled, while its lease is released. */
  readonly #rounds: Set<CoordinatedRound<T>> = new Set();
  #onIdle: (() => void) | undefined;
  /** The last load returned no promise. */
  #isSynchronous = false;

  constructor(options: EngineOptions, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.options = options;
    this.events = new Events(options.name, options.now, options.logger);
    this.timing = new Timing(options, nextExecuteTime);
    this.coordinator = options.membership?.coordinator(options, this.events);
    const { whenTooStale, whenClosed } = options;
    this.rules = { runState: 'open', whenTooStale, whenClosed, piggyback: neverTriggers };
    this.#load = load;
    this.#reporter = new LoadReporter(options, this.events);
  }

  /** The result of the load under way, or of one that this starts. It joins before it starts: a load may be synchronous. */
  next(entry: Entry<T>, signal: AbortSignal | undefined, trigger: Trigger = nextTrigger(entry)): Promise<T> {
    const next = waitersOf(entry).next(signal);
    this.startNow(entry, trigger, false);
    return next;
  }

  /** Starts a load on the caller's stack. A synchronous one has settled when this returns. */
  startNow(entry: Entry<T>, trigger: Trigger, background: boolean): void {
    const underWay = entry.flight;
    if (underWay === undefined) this.#start(entry, trigger, background, 'now');
    else {
      if (!underWay.hasStarted) inDetachedContext(() => underWay.start());
      if (trigger === 'forced') entry.coordinated?.requireFresh();
    }
    if (background) this.passEnd(entry, this.options.waitUntil);
  }

  /** Starts a load behind the caller, which has been served. */
  startBehind(entry: Entry<T>): void {
    if (entry.flight === undefined) {
      this.#start(entry, nextTrigger(entry), true, 'behind');
    }
    const { waitUntil } = this.options;
    if (waitUntil !== undefined) this.passEnd(entry, waitUntil);
  }

  /** Passes the end of the load under way to a platform that would freeze the process before. */
  passEnd(entry: Entry<T>, waitUntil: WaitUntil | undefined): void {
    if (waitUntil === undefined || entry.flight === undefined) return;
    passToPlatform(waitUntil, waitersOf(entry).end(), this.options.logger);
  }

  #start(entry: Entry<T>, trigger: Trigger, background: boolean, when: 'now' | 'behind'): void {
    const { key } = entry;
    const details: LoadDetails = key === undefined ? { trigger, background } : { trigger, background, key };
    const { clock, random, retry, timeoutMs, name, kind } = this.options;
    const { coordinator } = this;
    let startedAt = clock.monotonic();
    let round: CoordinatedRound<T> | undefined;
    let context: TryContext | undefined;
    const attempt = (attempt: number, abort: LazyAbort): ReturnType<Load<T>> => {
      if (round !== undefined && attempt === 1) {
        startedAt = clock.monotonic();
        this.events.emit('load-started', details);
        abort.signal.throwIfAborted(); // a listener may have superseded it
      }
      context = new TryContext(details, attempt, abort);
      const { last, value } = entry;
      if (kind !== 'task') context.previous = last && { value, loadedAt: last.endedAt };
      if (round?.token !== undefined) context.token = round.token;
      return this.#load(context, entry, abort);
    };
    const flight: Flight<KeyedAnswer<T>> = new Flight<KeyedAnswer<T>>({
      clock,
      random,
      retry,
      timeoutMs,
      attempt,
      wrap:
        coordinator &&
        ((tries, scope) => {
          round = this.#beginRound(coordinator, entry, details, (error) => flight.fail(error));
          return round.run(tries, scope);
        }),
      restAfter: (error) => retryAfterMs(error, this.options.now()),
      timeoutReason: (attempts, cause) => {
        const about = { cacheName: name, key: entry.key, attempts, timeout: timeoutMs, cause };
        const limit = context && this.options.loadLimit?.waitedFor(context);
        const line =
          limit === undefined ? '' : `, waiting for one of ${limit.max} places (maxConcurrentLoads)`;
        return new LoadTimeoutError(`load timed out after ${showDuration(timeoutMs)}${line}`, about);
      },
      settle: (outcome) => this.#settle(entry, flight, { details, startedAt, round }, outcome),
      ended: (reason) => context && this.options.loadLimit?.giveUp(context, reason),
      late: () => this.events.emit('late-result-dropped', details),
    });
    entry.flight = flight;
    this.#busy.add(entry);
    entry.waiters?.follow(flight);
    inDetachedContext(() => {
      if (coordinator === undefined) this.events.emit('load-started', details);
      if (when === 'now') flight.start();
      else flight.startBehind(this.#isSynchronous ? 'macrotask' : 'microtask');
    });
    if (entry.flight === flight) this.owner?.changed(entry);
  }

  #beginRound(
    coordinator: Coordinator,
    entry: Entry<T>,
    details: LoadDetails,
    fail: (error: Error) => void,
  ): CoordinatedRound<T> {
    const round: CoordinatedRound<T> = coordinator.begin(entry, {
      ...details,
      validSince: () => this.keys?.validSince ?? Number.NEGATIVE_INFINITY,
      began: () => this.keys?.loadBegan(entry),
      fail,
      over: () => {
        this.#rounds.delete(round);
        this.owner?.changed(entry);
        this.#checkIdle();
      },
    });
    this.#rounds.add(round);
    return round;
  }

  /**
   * Sets the value by hand: a flight under way is aborted, and its waiters get this value.
   *
   * @param prepare called right before the value is in place.
   */
  put(entry: Entry<T>, value: T, prepare?: () => void): void {
    // The owner hears of it once the value is in place: a group would start the next load before.
    this.abort(entry, new DOMException('superseded by set()', 'AbortError'));
    const waiters = takeWaiters(entry);
    prepare?.();
    this.coordinator?.replaced(entry);
    const result = { outcome: 'set', value, metadata: {} } as const;
    entry.putValue(value);
    const coolingDown = this.timing.succeeded(entry, result, this.options.clock.monotonic());
    this.#reporter.recovered(entry, coolingDown !== undefined);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    waiters?.resolve(value);
    this.owner?.changed(entry);
  }

  /**
   * Aborts the flight under way, if there is one. Its result is dropped; waiters go on waiting. The caller notifies
   * the owner, once the entry is in its new state.
   */
  abort(entry: Entry<T>, reason: Error): void {
    const { flight } = entry;
    if (flight === undefined) return;
    entry.waiters?.follow(undefined);
    this.#leave(entry, flight);
    flight.end(reason);
  }

  /**
   * Starts a successor for a load that was superseded while readers wait for it. Not on this stack: a load that
   * invalidates its own value would call itself, and a burst of invalidations would start a load each. Not in a
   * microtask either: such a load would keep all else from running.
   */
  startSuccessor(entry: Entry<T>, trigger: Trigger = 'invalidated'): void {
    if (!entry.waiters?.hasReaders) {
      takeWaiters(entry)?.resolve(entry.value as T); // they wait for the end only, which this is
      return;
    }
    const start = (): void => {
      const haveLeft = !entry.waiters?.hasReaders;
      if (this.rules.runState === 'closed')
        takeWaiters(entry)?.reject(closedError(this.options.name, entry.key));
      else if (haveLeft) takeWaiters(entry)?.resolve(entry.value as T);
      else this.startNow(entry, trigger, false);
      this.owner?.changed(entry);
    };
    this.options.clock.setTimeout(start, 0).ref();
  }

  /** Compares the clocks if it is time to. @returns the monotonic clock. */
  checkClocks(entry: Entry<T>): number {
    const now = this.options.clock.monotonic();
    if (now >= entry.checkClocksAt) this.compareClocks(entry, now);
    return now;
  }

  /** Lets the read or request at hand start other members of the group that are due. */
  triggerPiggyback(): void {
    const { readsFrom } = this.rules.piggyback;
    if (readsFrom < Infinity && this.options.clock.monotonic() >= readsFrom) this.rules.piggyback.read();
  }

  /** Computes the due time anew if the wall clock was stepped. */
  compareClocks(entry: Entry<T>, now: number): void {
    const { dueAt } = entry;
    const coolingDown = this.timing.compareClocks(entry, now);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    if (entry.dueAt !== dueAt) this.owner?.changed(entry);
  }

  /** Computes the due time anew by another schedule. */
  reschedule(entry: Entry<T>): void {
    const coolingDown = this.timing.rescheduled(entry);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    this.owner?.changed(entry);
  }

  /** Waits until no load is under way, at most `timeoutMs`; then aborts the rest, and rejects their waiters. */
  async drain(timeoutMs: number): Promise<void> {
    if (timeoutMs > 0) {
      for (const { flight } of this.#busy) flight?.ref();
      await this.#idle(timeoutMs);
    }
    for (const entry of [...this.#busy]) {
      const error = closedError(this.options.name, entry.key, 'was closed before its load had ended');
      this.abort(entry, error);
      takeWaiters(entry)?.reject(error);
      this.owner?.changed(entry);
    }
    // Leases are released when the aborted loads have settled, or left to expire.
    await Promise.all([this.#idle(RELEASE_GRACE_MS), this.coordinator?.close()]);
  }

  /** Resolves when no load and no round is under way, or after `timeoutMs`. */
  async #idle(timeoutMs: number): Promise<void> {
    if (this.#busy.size === 0 && this.#rounds.size === 0) return;
    await new Promise<void>((resolve) => {
      const { clock } = this.options;
      const timer = timeoutMs === Infinity ? undefined : clock.setTimeout(resolve, timeoutMs);
      timer?.ref();
      this.#onIdle = () => {
        timer?.cancel();
        resolve();
      };
    });
    this.#onIdle = undefined;
  }

  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#busy.size === 0 && this.#rounds.size === 0) this.#onIdle();
  }

  #settle(entry: Entry<T>, flight: LoadHandle, run: LoadRun<T>, outcome: Outcome<KeyedAnswer<T>>): void {
    this.keys?.pin(entry);
    try {
      this.#leave(entry, flight);
      this.#apply(entry, run, outcome);
    } finally {
      this.keys?.unpin(entry);
      this.owner?.changed(entry);
    }
  }

  #apply(entry: Entry<T>, { details, startedAt, round }: LoadRun<T>, outcome: Outcome<KeyedAnswer<T>>): void {
    const waiters = takeWaiters(entry);
    const duration = this.options.clock.monotonic() - startedAt;
    const end = loadEnd(details, outcome.attempts, duration);
    if (outcome.kind === 'timed-out') {
      this.#fail(entry, waiters, 'load-timed-out', end, outcome.error, round?.over);
      return;
    }
    const remote = outcome.kind === 'loaded' ? round?.remote : undefined;
    if (remote !== undefined && remote.result === undefined) {
      this.#defer(entry, waiters, remote, round?.isFreshRequired === true);
      return;
    }
    let result: LoadResult<T> | 'absent';
    try {
      if (outcome.kind === 'failed') throw outcome.error;
      result = remote?.result ?? readLoadResult(outcome.result, entry, this.options);
      if (result !== 'absent') this.keys?.admit(entry, result);
      this.#isSynchronous = outcome.isSynchronous;
    } catch (cause) {
      const error = this.#errorOf(cause, entry.key, outcome.attempts);
      this.#fail(entry, waiters, 'load-failed', end, error, round?.fail(error));
      return;
    }
    const coolingDown = this.#accept(entry, result, remote, startedAt);
    const isOutdated = this.keys?.isOutdated(entry, result) === true;
    if (isOutdated) this.timing.invalidated(entry);
    const isAbsent = result === 'absent';
    const settled = remote === undefined ? round?.complete({ isAbsent, took: duration }) : undefined;
    // They may have asked after the invalidation: only a load that begins from now on can be their result.
    const waitsOn = isOutdated && this.rules.runState !== 'closed' && waiters?.hasReaders === true;
    if (waitsOn) {
      entry.waiters = waiters;
      this.startSuccessor(entry);
    }
    this.#reporter.recovered(entry, coolingDown !== undefined);
    if (remote === undefined) this.#reporter.succeeded(entry, result, end);
    else remote.report(entry);
    if (coolingDown !== undefined) this.#reporter.brokenSchedule(entry, coolingDown);
    if (waitsOn || waiters === undefined) return;
    if (result !== 'absent') waiters.resolve(result.value, settled);
    else waiters.reject(absentError(entry, this.options.name, this.options.clock.monotonic()), settled);
  }

  /** Puts a result into the entry, with its times. @returns the cool-down, if the schedule failed. */
  #accept(
    entry: Entry<T>,
    result: LoadResult<T> | 'absent',
    remote: RemoteResult<T> | undefined,
    startedAt: number,
  ): ReturnType<Timing['succeeded']> {
    const { clock, name, absentForMs } = this.options;
    if (result === 'absent') {
      entry.forgetValue();
      this.timing.absent(entry, absentForMs);
    } else if (result.outcome !== 'kept') entry.putValue(result.value);
    remote?.applyTo(entry, this.timing);
    if (result === 'absent') entry.lastError = absentError(entry, name, clock.monotonic());
    else if (remote === undefined) return this.timing.succeeded(entry, result, startedAt);
    return undefined;
  }

  /** Another instance is executing, and there is no result yet. */
  #defer(
    entry: Entry<T>,
    waiters: Waiters<T> | undefined,
    remote: RemoteResult<T>,
    isFreshRequired: boolean,
  ): void {
    remote.applyTo(entry, this.timing);
    // Readers may have come after the decision to defer.
    const mayWait = (remote.isUnlessAwaited || isFreshRequired) && this.rules.runState !== 'closed';
    if (mayWait && waiters?.hasReaders) {
      entry.waiters = waiters;
      this.startSuccessor(entry, isFreshRequired ? 'forced' : 'due');
    } else waiters?.resolve(entry.value as T);
  }

  /** Errors of the cluster are passed on; any other is an error of the load. */
  #errorOf(cause: unknown, key: unknown, attempts: number): TicklessError {
    if (isLeaseLostError(cause) || isLockUnavailableError(cause)) return cause;
    const details = { cacheName: this.options.name, key, attempts, cause };
    return new LoadError(`load failed: ${messageOf(cause)}`, details);
  }

  #fail(
    entry: Entry<T>,
    waiters: Waiters<T> | undefined,
    type: 'load-failed' | 'load-timed-out',
    end: LoadEndDetails,
    error: TicklessError,
    settled: Promise<void> | undefined,
  ): void {
    const coolingDown = this.timing.failed(entry, error);
    const isHeard = !end.background && waiters?.hasReaders === true;
    this.#reporter.failed(entry, type, end, coolingDown, isHeard);
    waiters?.reject(error, settled);
  }

  /** By identity: a flight that has left can't remove its successor. */
  #leave(entry: Entry<T>, flight: LoadHandle): void {
    if (entry.flight !== flight) return;
    entry.flight = undefined;
    this.#busy.delete(entry);
    if (this.#onIdle !== undefined) this.#checkIdle();
  }
}

/** A load that has settled. */
interface LoadRun<T> {
  readonly details: LoadDetails;
  /** Monotonic; of a load behind a lock: when it had the lease. */
  readonly startedAt: number;
  readonly round: CoordinatedRound<T> | undefined;
}

/** Why the next load of an entry runs, unless it is forced. */
export function nextTrigger(entry: Entry<unknown>): Trigger {
  if (entry.isInvalidated) return 'invalidated';
  return entry.isLoaded ? 'due' : 'first';
}
