import type { DurationLike } from '../duration.ts';
import {
  isAbsentError,
  isClosedError,
  isLoadError,
  isLoadTimeoutError,
  type TicklessError,
} from '../errors.ts';
import { type Door, open, shut } from '../membership.ts';
import { Events } from '../observe/events.ts';
import { callForeign } from '../observe/foreign-call.ts';
import { defaults, type WaitUntil } from '../options.ts';
import { durationArgument, type Policy, scheduleArgument, signalArgument } from '../policy.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { type Decision, decide, type Gate, isDue, isTooStale } from './decide.ts';
import { ignoreRejection, rejected, voided } from './deferred.ts';
import { type Entry, forget, takeWaiters, waitersOf } from './entry.ts';
import type { Keeper } from './keeper.ts';
import { keyOf, Launcher, type Load } from './launcher.ts';
import type { Trigger } from './load-context.ts';
import { closedError, coolingDown, notLoaded, refusal } from './refusal.ts';
import { type ExecutionStatus, executionStatus } from './status.ts';
import { Timetable } from './timetable.ts';

/** What a caller may ask of one read. */
export interface ReadOptions {
  /**
   * How long to wait for a fresh value when the present one is due: after that, or when the load fails, the old one
   * is served. 0: not at all; `Infinity`: as long as the load takes. Of no effect on a read that waits for the load
   * in any case (the first one, and beyond `maxStaleness` with `wait`) or that is refused. @default 0
   */
  readonly patience?: DurationLike | undefined;
  /** Ends this wait, and nothing else: the read rejects with the signal's reason, the load goes on for the others. */
  readonly signal?: AbortSignal | undefined;
  /** Is given a promise of the end of the load under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/**
 * The one mechanism under executors, values and caches: it carries out on entries what `decide` decides. It holds no
 * entry of its own, so that it serves one value as well as a million keys.
 */
export class Refresher<T> {
  readonly events: Events;
  readonly timetable: Timetable;
  readonly #policy: Policy;
  readonly #launcher: Launcher<T>;
  /** Where reads find out that others in the group are due. */
  door: Door = open;
  #gate: Gate = 'open';
  #closing: Promise<void> | undefined;

  constructor(policy: Policy, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.events = new Events(policy.name, () => policy.clock.now(), policy.logger);
    this.timetable = new Timetable(policy, nextExecuteTime);
    this.#policy = policy;
    this.#launcher = new Launcher(policy, this.events, this.timetable, load);
  }

  /** Who is told of changes of entries from now on. */
  keptBy(keeper: Keeper<T>): void {
    this.#launcher.keeper = keeper;
  }

  get gate(): Gate {
    return this.#gate;
  }

  /**
   * A read that may wait.
   *
   * @param again reads anew, after patience: the entry may have been put to rest meanwhile.
   */
  read(
    entry: Entry<T>,
    options: ReadOptions,
    again: () => Promise<T> = () => this.read(entry, {}),
  ): Promise<T> {
    try {
      return this.#read(entry, options, again);
    } finally {
      this.#wakeOthers();
    }
  }

  #read(entry: Entry<T>, options: ReadOptions, again: () => Promise<T>): Promise<T> {
    let patienceMs: number;
    try {
      patienceMs = durationArgument(this.#policy.name, 'patience', options.patience ?? 0);
      signalArgument(this.#policy.name, options.signal);
    } catch (error) {
      return rejected(error);
    }
    const decision = this.#lookToRead(entry);
    if (decision === 'wait-for-load') {
      if (options.signal?.aborted) return rejected(options.signal.reason);
      const next = entry.isLoaded ? this.#fresh(entry, options.signal) : this.#next(entry, options.signal);
      this.#promiseEnd(entry, options.waitUntil);
      return next;
    }
    // What is served is what was there when it was decided, whatever listeners do.
    const promise = entry.promise as Promise<T>;
    const error = decision === 'reject' || decision === 'reject-and-start' ? this.#refusal(entry) : undefined;
    if (decision === 'serve-and-start' || decision === 'reject-and-start') this.#startBehind(entry);
    this.#promiseEnd(entry, options.waitUntil);
    if (error !== undefined) return rejected(error);
    if (patienceMs > 0 && entry.flight !== undefined && isDue(entry, this.#policy.clock.monotonic())) {
      return this.#patient(entry, patienceMs, options.signal, again);
    }
    this.#tellStale(entry);
    return promise;
  }

  /** A read that can't wait. Throws when there is nothing that may be served. */
  readNow(entry: Entry<T>): T {
    try {
      return this.#readNow(entry);
    } finally {
      this.#wakeOthers();
    }
  }

  #readNow(entry: Entry<T>): T {
    const decision = this.#lookToRead(entry);
    if (decision === 'wait-for-load') {
      this.#startNow(entry, nextTrigger(entry), true); // a synchronous load lands right here
      return this.#served(entry);
    }
    const value = entry.value as T;
    const error =
      decision === 'reject' || decision === 'reject-and-start' ? this.#refusalNow(entry) : undefined;
    if (decision === 'serve-and-start' || decision === 'reject-and-start') this.#startBehind(entry);
    if (error !== undefined) throw error;
    this.#tellStale(entry);
    return value;
  }

  /** Starts what is due. Waits for it when told to, else only while nothing ever succeeded. */
  requestStart(entry: Entry<T>, wait: boolean | undefined, waitUntil: WaitUntil | undefined): Promise<void> {
    if (this.#gate === 'closed') return rejected(closedError(this.#policy.name, entry.key));
    const waits = wait ?? !entry.isLoaded;
    const decision = this.#look(entry);
    const mayStart = entry.flight === undefined && decision !== 'serve' && decision !== 'reject';
    let next: Promise<void> = DONE;
    if (waits && (mayStart || entry.flight !== undefined)) next = voided(this.#next(entry));
    else if (mayStart && entry.isLoaded) this.#startBehind(entry);
    else if (mayStart) this.#startNow(entry, nextTrigger(entry), true);
    else if (waits && !entry.isLoaded) next = rejected(this.#refusal(entry));
    else if (waits && this.#gate === 'open' && isDue(entry, this.#policy.clock.monotonic())) {
      next = rejected(coolingDown(entry, this.#policy.name, this.#policy.clock.monotonic()));
    }
    this.#promiseEnd(entry, waitUntil);
    this.#wakeOthers();
    return next;
  }

  /**
   * Starts a load behind the caller, though nobody asked for this entry: it is due, or soon will be.
   *
   * @param hold the process is to live until it has ended.
   * @returns whether it was started.
   */
  startAhead(entry: Entry<T>, hold: boolean): boolean {
    const now = this.#compareClocks(entry);
    if (this.#gate !== 'open' || entry.flight !== undefined || now < entry.coolDownUntil) return false;
    this.#startBehind(entry);
    if (hold && entry.flight !== undefined) void waitersOf(entry).end();
    return true;
  }

  /** A load now, due or not, cooling down or not. Joins the one under way. */
  refresh(entry: Entry<T>): Promise<T> {
    if (this.#gate === 'closed' && entry.flight === undefined) {
      return rejected(closedError(this.#policy.name, entry.key));
    }
    return this.#next(entry, undefined, 'forced');
  }

  /** Makes the entry due at once. A flight under way is aborted; who waits for it waits for its successor. */
  invalidate(entry: Entry<T>, drop: boolean): void {
    this.#launcher.abort(entry, new DOMException('superseded by invalidate()', 'AbortError'));
    this.timetable.invalidated(entry);
    if (drop) forget(entry);
    this.#succeed(entry);
    this.#launcher.keeper.changed(entry);
  }

  /** A value by hand. A flight under way is aborted; who waits for it gets this value. */
  set(entry: Entry<T>, value: T): void {
    this.#launcher.put(entry, value);
  }

  /** Another schedule: the due time of the entry is computed anew from its last execution. */
  reschedule(entry: Entry<T>, schedule: ScheduleLike): void {
    this.timetable.schedule = scheduleArgument(this.#policy.name, schedule);
    this.#launcher.tellBrokenSchedule(entry, this.timetable.rescheduled(entry));
    this.#launcher.keeper.changed(entry);
  }

  pause(): void {
    if (this.#gate !== 'open') return;
    this.#gate = 'paused';
    this.events.emit('paused', {});
    this.#launcher.keeper.turned();
  }

  resume(): void {
    if (this.#gate !== 'paused') return;
    this.#gate = 'open';
    this.events.emit('resumed', {});
    this.#launcher.keeper.turned();
  }

  /** Starts nothing any more, waits for what runs, then aborts it. Every call gets the same promise. */
  close(timeout: DurationLike | undefined): Promise<void> {
    const timeoutMs = durationArgument(this.#policy.name, 'timeout', timeout ?? defaults.closeTimeout);
    if (this.#gate !== 'closed') {
      this.#gate = 'closed';
      this.door = this.#policy.whenClosed === 'throw' ? shut : open;
      this.#launcher.keeper.turned();
    }
    this.#closing ??= this.#launcher
      .drain(timeoutMs, (entry) => closedError(this.#policy.name, entry.key))
      .then(() => {
        this.events.emit('closed', {});
        this.events.clear();
      });
    return this.#closing;
  }

  /** How the entry stands now. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.#policy.clock.monotonic();
    this.compareClocks(entry, now);
    return executionStatus(entry, this.#policy, this.#gate, this.timetable, now);
  }

  /** Has the wall clock been stepped? Then the due time is computed anew. */
  compareClocks(entry: Entry<T>, now: number): void {
    const { dueAt } = entry;
    this.#launcher.tellBrokenSchedule(entry, this.timetable.compareClocks(entry, now));
    if (entry.dueAt !== dueAt) this.#launcher.keeper.changed(entry);
  }

  /** Compares the clocks when it is time to. Answers with the monotonic clock. */
  #compareClocks(entry: Entry<T>): number {
    const now = this.#policy.clock.monotonic();
    if (now >= entry.lookAt) this.compareClocks(entry, now);
    return now;
  }

  /**
   * A successor for a load that was aborted while readers wait for it. Not on this stack: a load that invalidates its
   * own value would call itself, and a burst of invalidations would start a load each. Not in a microtask either:
   * such a load would keep all else from running.
   */
  #succeed(entry: Entry<T>): void {
    if (!entry.waiters?.hasReaders) {
      takeWaiters(entry)?.resolve(entry.value as T); // only those who wait for the end, which this is
      return;
    }
    const start = (): void => {
      if (this.#gate === 'closed') takeWaiters(entry)?.reject(closedError(this.#policy.name, entry.key));
      else if (entry.waiters?.hasReaders) this.#startNow(entry, 'invalidated', false);
    };
    this.#policy.clock.setTimeout(start, 0).ref();
  }

  #look(entry: Entry<T>): Decision {
    const now = this.#compareClocks(entry);
    const { whenTooStale, whenClosed } = this.#policy;
    return decide(entry, { gate: this.#gate, whenTooStale, whenClosed }, now);
  }

  #lookToRead(entry: Entry<T>): Decision {
    this.#compareClocks(entry);
    if (entry.isLoaded && this.events.has('too-stale')) {
      const age = this.#policy.clock.monotonic() - entry.loadedAt;
      const maxStaleness = entry.maxStalenessMs;
      if (age > maxStaleness) this.events.emit('too-stale', { age, maxStaleness, ...keyOf(entry) });
    }
    return this.#look(entry); // after the listeners, who may have changed everything
  }

  /** The value, where age and policy allow to serve it. Throws the refusal otherwise. */
  #served(entry: Entry<T>): T {
    const { whenTooStale, clock } = this.#policy;
    const isServed = entry.isLoaded && (whenTooStale === 'serve' || !isTooStale(entry, clock.monotonic()));
    if (!isServed) throw this.#refusalNow(entry);
    this.#tellStale(entry);
    return entry.value as T;
  }

  /** Waits for the flight under way, or starts one. It joins before it starts: a synchronous load settles it too. */
  #next(entry: Entry<T>, signal?: AbortSignal, trigger: Trigger = nextTrigger(entry)): Promise<T> {
    const next = waitersOf(entry).next(signal);
    this.#startNow(entry, trigger, false);
    return next;
  }

  /** As `#next`, for a read of a value that is too stale: the failure of the load means it can't be served. */
  #fresh(entry: Entry<T>, signal: AbortSignal | undefined): Promise<T> {
    const refuse = (error: unknown): never => {
      throw isLoadError(error) || isLoadTimeoutError(error) ? this.#refusal(entry) : error;
    };
    return ignoreRejection(this.#next(entry, signal).catch(refuse));
  }

  #patient(
    entry: Entry<T>,
    patienceMs: number,
    signal: AbortSignal | undefined,
    again: () => Promise<T>,
  ): Promise<T> {
    const ended = waitersOf(entry).nextWithin(patienceMs, this.#policy.clock, signal);
    const readAfterFailure = (error: unknown): Promise<T> => (signal?.aborted ? rejected(error) : again());
    return ignoreRejection(ended.then(again, readAfterFailure));
  }

  #startNow(entry: Entry<T>, trigger: Trigger, background: boolean): void {
    this.#launcher.start(entry, { trigger, background }, 'now');
    if (background) this.#promiseEnd(entry, this.#policy.waitUntil);
  }

  #startBehind(entry: Entry<T>): void {
    this.#launcher.start(entry, { trigger: nextTrigger(entry), background: true }, 'behind');
    this.#promiseEnd(entry, this.#policy.waitUntil);
  }

  /** Promises the end of the load under way to a platform that would freeze the process before. */
  #promiseEnd(entry: Entry<T>, waitUntil: WaitUntil | undefined): void {
    if (waitUntil === undefined || entry.flight === undefined) return;
    this.promise(waitUntil, waitersOf(entry).end());
  }

  /** Hands a promise to a platform. */
  promise(waitUntil: WaitUntil, end: Promise<unknown>): void {
    callForeign(
      () => waitUntil(end),
      (error) => this.#policy.logger.error('waitUntil threw', error),
    );
  }

  #tellStale(entry: Entry<T>): void {
    if (!this.events.has('stale-served')) return;
    const now = this.#policy.clock.monotonic();
    if (isDue(entry, now)) this.events.emit('stale-served', { age: now - entry.loadedAt, ...keyOf(entry) });
  }

  #refusal(entry: Entry<T>): TicklessError {
    const { whenClosed, name, clock } = this.#policy;
    return refusal(entry, { gate: this.#gate, whenClosed }, name, clock.monotonic());
  }

  /** As `#refusal`, for who can't wait: without a value it is "not loaded", unless the source has none either. */
  #refusalNow(entry: Entry<T>): TicklessError {
    const error = this.#refusal(entry);
    return entry.isLoaded ||
      isAbsentError(error) ||
      (isClosedError(error) && this.#policy.whenClosed === 'throw')
      ? error
      : notLoaded(entry, this.#policy.name);
  }

  /** Lets the group start what is due among the others. */
  #wakeOthers(): void {
    if (this.door.readsFrom < Infinity && this.#policy.clock.monotonic() >= this.door.readsFrom)
      this.door.read();
  }
}

const DONE: Promise<void> = Promise.resolve();

function nextTrigger(entry: Entry<unknown>): Trigger {
  if (entry.isInvalidated) return 'invalidated';
  return entry.isLoaded ? 'due' : 'first';
}
