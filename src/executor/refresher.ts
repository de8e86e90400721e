import type { DurationLike } from '../duration.ts';
import { ClosedError, isLoadError, isLoadTimeoutError, type TicklessError } from '../errors.ts';
import { Events } from '../observe/events.ts';
import { callForeign } from '../observe/foreign-call.ts';
import { defaults, type WaitUntil } from '../options.ts';
import { durationArgument, type Policy, scheduleArgument, signalArgument } from '../policy.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { type Decision, decide, type Gate, isDue, isTooStale } from './decide.ts';
import { ignoreRejection, rejected, voided } from './deferred.ts';
import { type Entry, takeWaiters, waitersOf } from './entry.ts';
import { Launcher, type Load } from './launcher.ts';
import type { Trigger } from './load-context.ts';
import { coolingDown, notLoaded, refusal } from './refusal.ts';
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
  #gate: Gate = 'open';
  #closing: Promise<void> | undefined;

  constructor(policy: Policy, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.events = new Events(policy.name, () => policy.clock.now(), policy.logger);
    this.timetable = new Timetable(policy, nextExecuteTime);
    this.#policy = policy;
    this.#launcher = new Launcher(policy, this.events, this.timetable, load);
  }

  /** A read that may wait. */
  read(entry: Entry<T>, options: ReadOptions): Promise<T> {
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
      return this.#patient(entry, patienceMs, options.signal);
    }
    this.#tellStale(entry);
    return promise;
  }

  /** A read that can't wait. Throws when there is nothing that may be served. */
  readNow(entry: Entry<T>): T {
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
    if (this.#gate === 'closed') return rejected(this.#closedError());
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
    return next;
  }

  /** A load now, due or not, cooling down or not. Joins the one under way. */
  refresh(entry: Entry<T>): Promise<T> {
    if (this.#gate === 'closed' && entry.flight === undefined) return rejected(this.#closedError());
    return this.#next(entry, undefined, 'forced');
  }

  /** Makes the entry due at once. A flight under way is aborted; who waits for it waits for its successor. */
  invalidate(entry: Entry<T>, drop: boolean): void {
    this.#launcher.abort(entry, new DOMException('superseded by invalidate()', 'AbortError'));
    this.timetable.invalidated(entry);
    if (drop) {
      entry.isLoaded = false;
      entry.value = entry.promise = entry.last = undefined;
      entry.scheduledFor = entry.saidMaxStalenessMs = undefined;
    }
    this.#succeed(entry);
  }

  /** A value by hand. A flight under way is aborted; who waits for it gets this value. */
  set(entry: Entry<T>, value: T): void {
    this.#launcher.put(entry, value);
  }

  /** Another schedule: the due time of the entry is computed anew from its last execution. */
  reschedule(entry: Entry<T>, schedule: ScheduleLike): void {
    this.timetable.schedule = scheduleArgument(this.#policy.name, schedule);
    this.#launcher.tellBrokenSchedule(this.timetable.rescheduled(entry));
  }

  pause(): void {
    if (this.#gate !== 'open') return;
    this.#gate = 'paused';
    this.events.emit('paused', {});
  }

  resume(): void {
    if (this.#gate !== 'paused') return;
    this.#gate = 'open';
    this.events.emit('resumed', {});
  }

  /** Starts nothing any more, waits for what runs, then aborts it. Every call gets the same promise. */
  close(timeout: DurationLike | undefined): Promise<void> {
    const timeoutMs = durationArgument(this.#policy.name, 'timeout', timeout ?? defaults.closeTimeout);
    this.#gate = 'closed';
    this.#closing ??= this.#launcher
      .drain(timeoutMs, () => this.#closedError())
      .then(() => {
        this.events.emit('closed', {});
        this.events.clear();
      });
    return this.#closing;
  }

  /** How the entry stands now. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.#policy.clock.monotonic();
    this.#launcher.tellBrokenSchedule(this.timetable.compareClocks(entry, now));
    return executionStatus(entry, this.#policy, this.#gate, this.timetable, now);
  }

  /** Compares the clocks when it is time to. Answers with the monotonic clock. */
  #compareClocks(entry: Entry<T>): number {
    const now = this.#policy.clock.monotonic();
    if (now >= entry.lookAt) this.#launcher.tellBrokenSchedule(this.timetable.compareClocks(entry, now));
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
      if (this.#gate === 'closed') takeWaiters(entry)?.reject(this.#closedError());
      else if (entry.waiters?.hasReaders) this.#startNow(entry, 'invalidated', false);
    };
    this.#policy.clock.setTimeout(start, 0).ref();
  }

  #look(entry: Entry<T>): Decision {
    const now = this.#compareClocks(entry);
    return decide(entry, { gate: this.#gate, whenTooStale: this.#policy.whenTooStale }, now);
  }

  #lookToRead(entry: Entry<T>): Decision {
    this.#compareClocks(entry);
    if (entry.isLoaded && this.events.has('too-stale')) {
      const age = this.#policy.clock.monotonic() - entry.loadedAt;
      const maxStaleness = entry.maxStalenessMs;
      if (age > maxStaleness) this.events.emit('too-stale', { age, maxStaleness });
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

  #patient(entry: Entry<T>, patienceMs: number, signal: AbortSignal | undefined): Promise<T> {
    const ended = waitersOf(entry).nextWithin(patienceMs, this.#policy.clock, signal);
    const read = (): Promise<T> => this.read(entry, {});
    const readAfterFailure = (error: unknown): Promise<T> => (signal?.aborted ? rejected(error) : read());
    return ignoreRejection(ended.then(read, readAfterFailure));
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
    const end = waitersOf(entry).end();
    callForeign(
      () => waitUntil(end),
      (error) => this.#policy.logger.error('waitUntil threw', error),
    );
  }

  #tellStale(entry: Entry<T>): void {
    if (!this.events.has('stale-served')) return;
    const now = this.#policy.clock.monotonic();
    if (isDue(entry, now)) this.events.emit('stale-served', { age: now - entry.loadedAt });
  }

  #refusal(entry: Entry<T>): TicklessError {
    return refusal(entry, this.#gate, this.#policy.name, this.#policy.clock.monotonic());
  }

  /** As `#refusal`, for who can't wait: whatever the reason, without a value it is "not loaded". */
  #refusalNow(entry: Entry<T>): TicklessError {
    return entry.isLoaded ? this.#refusal(entry) : notLoaded(entry, this.#policy.name);
  }

  #closedError(): ClosedError {
    return new ClosedError('is closed and starts nothing any more', { cacheName: this.#policy.name });
  }
}

const DONE: Promise<void> = Promise.resolve();

function nextTrigger(entry: Entry<unknown>): Trigger {
  if (entry.isInvalidated) return 'invalidated';
  return entry.isLoaded ? 'due' : 'first';
}
