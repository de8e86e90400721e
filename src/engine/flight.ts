import {
  type ExecutionEnd,
  type ExecutionRecord,
  type ExecutionStart,
  executionRecord,
  type FailedTry,
} from '../data/execution-record.ts';
import type { TicklessError } from '../errors.ts';
import type { ExecutionTraces } from '../observe/instrument.ts';
import type { Events } from '../observe/member-events.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { ignoreRejection, isThenable, rejected } from '../time/deferred.ts';
import { LazyAbort } from '../time/lazy-abort.ts';
import { setSharedTimeout } from '../time/shared-timer.ts';
import type { ActiveLoads } from './active-loads.ts';
import type { CoordinatedRound, Coordinator } from './coordinator.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Entry } from './entry.ts';
import type { EntryOwner, KeyedOwner } from './entry-owner.ts';
import { type LoadContext, TryContext } from './load-context.ts';
import type { LoadHandle, OutdatedBy } from './load-handle.ts';
import type { KeyedLoadReturn } from './load-result.ts';
import { type Outlivable, PreviousValue } from './previous-value.ts';
import { timeoutError } from './read-errors.ts';
import { type ResolvedRetry, retrying } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';
import type { RetryJitter } from './retry-jitter.ts';
import type { Timing } from './timing.ts';

/** The function that loads or executes; the same for a value, a key or a task. */
export type Load<T> = (
  context: LoadContext,
  entry: Entry<T>,
  abort: LazyAbort,
) => KeyedLoadReturn<T> | PromiseLike<KeyedLoadReturn<T>>;

/** The loader, as its flights see it. */
export interface FlightHost<T> {
  readonly options: EngineOptions;
  readonly events: Events;
  readonly timing: Timing;
  readonly coordinator: Coordinator | undefined;
  readonly owner: EntryOwner<T> | undefined;
  readonly keys: KeyedOwner<T> | undefined;
  readonly active: ActiveLoads<T>;
  readonly jitter: RetryJitter;
  readonly load: Load<T>;
  /** Called once, unless the flight is ended from outside before. Never throws. */
  settled(flight: Flight<T>, end: FlightEnd<T>): void;
  /** Called once after `abortAndDrain`: the load has settled, or its deadline has passed. Never throws. */
  gone(flight: Flight<T>): void;
  /** Aborts the load under way. */
  abort(entry: Entry<T>, reason: Error): void;
}

type Result<T> = KeyedLoadReturn<T>;

/** How an execution ended. `attempts` counts the calls of the load, 1 or more. */
export type FlightEnd<T> =
  | {
      readonly kind: 'loaded';
      readonly result: Result<T>;
      readonly attempts: number;
      /** The load returned no promise. */
      readonly isSynchronous: boolean;
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly attempts: number }
  | {
      readonly kind: 'cancelled';
      readonly error: TicklessError;
      readonly attempts: number;
      /** It has begun, and keeps its place until it has settled. */
      readonly isLive: boolean;
    }
  | { readonly kind: 'timed-out'; readonly error: TicklessError; readonly attempts: number };

/** With the last one there are ten. */
const MOST_EARLIER_TRIES = 9;

/** One for all: most loads have none, or one. */
const NO_TIMERS: readonly Timer[] = [];
const NO_TRIES: readonly FailedTry<Error>[] = [];

/** How long a load without a deadline may go on after its abort, before another may start. */
const LONGEST_LINGER_MS = 30_000;

/**
 * One execution of the load of an entry from its first try to its end: the tries, the pauses between them, the deadline over all, and
 * its round in the cluster.
 *
 * It settles exactly once, whatever the load does: throw, reject, return at once, never settle, throw from `then`.
 * Two endings race, and the first closes the flight:
 *
 *  1. the deadline fires, ends the flight (abort, timers gone) and settles it as timed out;
 *  2. the load settles a moment later, finds the flight over, and is reported as late. The other way round, settling
 *     cancels the deadline.
 *
 * Timers exist only while it is under way, and keep the process alive only while a caller waits ({@link ref}).
 */
export class Flight<T> implements LoadHandle, Outlivable {
  readonly entry: Entry<T>;
  readonly details: ExecutionStart;
  outdatedBy: OutdatedBy | undefined = undefined;
  reloadAfter: 'read' | 'forced' | undefined = undefined;
  startedAt: number;
  round: CoordinatedRound<T> | undefined = undefined;
  /** The promise of the value that was in place at the last try. */
  previous: Promise<T> | undefined = undefined;
  /** When it has settled: readers waited for it. */
  isAwaited: boolean = false;
  /** It was aborted since the store has a newer version: those that wait for it wait for the next one. */
  isOvertaken: boolean = false;
  readonly #host: FlightHost<T>;
  readonly #clock: Clock;
  readonly #retry: ResolvedRetry | undefined;
  /** The deadline over all tries together; `Infinity`: none. */
  readonly #timeoutMs: number;
  /** For instruments; `undefined`: there are none. */
  readonly #trace: ExecutionTraces | undefined;
  readonly #abort: LazyAbort = new LazyAbort();
  /** Of the last try. */
  #context: TryContext | undefined;
  #record: { bytes: number | undefined } | undefined;
  #duration: number | undefined = undefined;
  /** Those that run. */
  #timers: readonly Timer[] = NO_TIMERS;
  #attempts = 0;
  #tries = NO_TRIES;
  #deadlineAt = Infinity;
  #refs = 0;
  #isOver = false;
  #hasStarted = false;
  /** Over, and the promise of all tries, or of the round, has settled. */
  #hasSettled = false;
  /** Tries under p-retry that have not settled: p-retry itself ends with the abort. */
  #liveTries = 0;
  #isLingering = false;

  constructor(host: FlightHost<T>, entry: Entry<T>, details: ExecutionStart) {
    const { clock, retry, isRetryDefault, timeoutMs } = host.options;
    this.startedAt = clock.monotonic();
    this.#host = host;
    this.#clock = clock;
    this.#timeoutMs = Math.min(timeoutMs, Math.max(0, entry.inheritedDeadline - this.startedAt));
    this.#retry = isRetryDefault && entry.failures > 0 ? undefined : retry;
    this.entry = entry;
    this.details = details;
    this.#trace = host.events.begin(details);
  }

  get waitedFor(): string | undefined {
    const context = this.#context;
    const place = context && this.#host.options.loadLimit?.waitedFor(context);
    return this.round?.waitedFor ?? place ?? (context && TryContext.waitedFor(context));
  }

  get outlivedInMs(): number {
    return this.#host.timing.outlivedInMs(this.entry);
  }

  get hasStarted(): boolean {
    return this.#isOver || this.#hasStarted;
  }

  /** How often the load was called. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The tries that another one has followed, in their order: the last nine. */
  get tries(): readonly FailedTry<Error>[] {
    return this.#tries;
  }

  get deadlineAt(): number {
    return this.#deadlineAt;
  }

  /** Makes the first try, on the caller's stack. A synchronous load has settled when this returns. */
  start(): void {
    this.#start(this.#host.options.isRetryDefault);
  }

  /** @param failsAtOnce a load that throws is not tried again: the caller gets the error at once. */
  #start(failsAtOnce: boolean): void {
    if (this.#isOver || this.#hasStarted) return; // superseded, or started early, while it waited for its turn
    this.#hasStarted = true;
    const { coordinator } = this.#host;
    const now = this.#clock.monotonic();
    this.#deadlineAt = now + this.#timeoutMs;
    if (coordinator !== undefined) {
      this.#startDeadline(now);
      this.#settleWith(this.#inRound(coordinator));
      return;
    }
    const first = this.#firstTry(failsAtOnce);
    if (!('then' in first)) {
      this.#settle(first);
      return;
    }
    const later = this.#clock.monotonic(); // the first try may have held the stack for a while
    this.#startDeadline(later);
    this.#settleWith(first, later);
  }

  #inRound(coordinator: Coordinator): Promise<Result<T>> {
    const host = this.#host;
    const { entry } = this;
    const round: CoordinatedRound<T> = coordinator.begin(entry, {
      ...this.details,
      validSince: () => host.keys?.validity.validSince ?? -Infinity,
      began: () => {
        if (entry.flight !== this || this.outdatedBy === 'abort') return;
        this.outdatedBy = undefined;
        host.keys?.validity.loadBegan(entry);
      },
      published: (bytes) => {
        if (this.#record !== undefined) this.#record.bytes = bytes;
      },
      fail: (error) => this.fail(error),
      overtaken: (error) => {
        if (entry.flight !== this) return;
        this.isOvertaken = true;
        host.abort(entry, error);
        host.owner?.changed(entry);
      },
      over: () => {
        host.active.rounds.delete(round);
        host.owner?.changed(entry);
        host.active.ended();
      },
    });
    host.active.rounds.add(round);
    this.round = round;
    return round.run(() => this.#allTries(), {
      signal: this.#abort.signal,
      drainDeadline: () => this.#drainDeadline(),
      sleep: (ms) => this.#sleep(ms, ms / 2),
    });
  }

  /**
   * Makes the first try behind the caller: after the code that runs now (`'microtask'`), or, for a load that is
   * known to be synchronous and would delay readers that await a value, after all that is ready to run (`'macrotask'`).
   */
  startBehind(turn: 'microtask' | 'macrotask'): void {
    if (turn === 'macrotask') this.#startTimer(() => this.#start(false), 0);
    else Promise.resolve().then(() => this.#start(false));
  }

  ref(): void {
    if (this.#refs++ === 0) for (const timer of this.#timers) timer.ref();
  }

  unref(): void {
    if (--this.#refs === 0) for (const timer of this.#timers) timer.unref();
  }

  /** Ends it from inside, as failed: the load is aborted with the error. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.end(error);
    this.#host.settled(this, { kind: 'failed', error, attempts: this.#attempts });
  }

  cancel(errorOf: (attempts: number) => TicklessError): void {
    if (this.#isOver) return;
    const attempts = this.#attempts;
    const error = errorOf(attempts);
    const isLive = this.#hasStarted;
    if (isLive) this.abortAndDrain(error);
    else this.end(error);
    this.#host.settled(this, { kind: 'cancelled', error, attempts, isLive });
  }

  end(reason: Error): void {
    this.#isLingering = false;
    const wasOver = this.#isOver;
    this.#close(); // it may have lingered until now
    if (wasOver) return;
    const context = this.#context;
    if (context !== undefined) this.#host.options.loadLimit?.giveUp(context, reason);
    const record = this.#recordOf({ outcome: 'cancelled', error: reason }, this.measured());
    queueMicrotask(() => this.#report(record)); // unless its outcome is applied on this stack
    this.#abort.abort(reason);
  }

  abortAndDrain(reason: Error): void {
    if (this.#isOver) return;
    this.end(reason);
    this.#isLingering = true;
    const left = this.#drainDeadline() - this.#clock.monotonic();
    this.#addTimer(() => this.#leave(), Math.max(0, left));
  }

  #drainDeadline(): number {
    if (this.#deadlineAt < Infinity) return this.#deadlineAt;
    return this.#clock.monotonic() + LONGEST_LINGER_MS;
  }

  #startDeadline(now: number): void {
    if (this.#deadlineAt === Infinity || this.#isOver) return;
    this.#addTimer(() => this.#timeOut(), Math.max(0, this.#deadlineAt - now));
  }

  /** @param firstTryAt it is the first try, which may be followed by others: when that was made (monotonic). */
  #settleWith(result: Promise<Result<T>>, firstTryAt?: number): void {
    result.then(
      (result) => this.#settle({ kind: 'loaded', result, attempts: this.#attempts, isSynchronous: false }),
      (error) => {
        const others = firstTryAt === undefined ? undefined : this.#otherTries(error, firstTryAt);
        if (others === undefined) this.#settle({ kind: 'failed', error, attempts: this.#attempts });
        else this.#settleWith(others);
      },
    );
  }

  #allTries(): Promise<Result<T>> {
    const first = this.#firstTry(false);
    if ('then' in first) {
      const now = this.#clock.monotonic();
      return first.catch((error) => this.#otherTries(error, now) ?? first);
    }
    return first.kind === 'loaded'
      ? Promise.resolve(first.result)
      : Promise.reject((first as { error: unknown }).error);
  }

  /** The outcome of a synchronous load, or a promise of what is still to come. */
  #firstTry(failsAtOnce: boolean): FlightEnd<T> | Promise<Result<T>> {
    try {
      this.#attempts = 1;
      const result = this.#try(1);
      // Promise.resolve calls a user's `then` in a job of its own and turns what it throws into a rejection.
      return isThenable(result)
        ? Promise.resolve(result as PromiseLike<Result<T>>)
        : { kind: 'loaded', result: result as Result<T>, attempts: 1, isSynchronous: true };
    } catch (error) {
      return failsAtOnce || this.#retry === undefined
        ? { kind: 'failed', error, attempts: 1 }
        : ignoreRejection(Promise.reject(error));
    }
  }

  /** Only a first try that has failed is given to p-retry. `undefined`: no other follows. */
  #otherTries(error: unknown, startedAt: number): Promise<Result<T>> | undefined {
    const retry = this.#retry;
    if (retry === undefined || this.#isOver) return undefined;
    const clock = this.#clock;
    const first = rejected(error); // p-retry does not look at it where its options are invalid
    const tries = (attempt: number): Promise<Result<T>> => {
      if (attempt === 1) return first;
      this.#attempts = attempt;
      return this.#track(Promise.resolve(this.#try(attempt)));
    };
    return retrying(tries, retry, {
      signal: this.#abort.signal,
      startedAt,
      random: (error) => this.#host.jitter.after(error),
      now: () => clock.monotonic(),
      pause: (ms, error) => this.#pause(ms, error),
    });
  }

  /** p-retry reports only the abort: a try may go on after that. */
  #track(result: Promise<Result<T>>): Promise<Result<T>> {
    this.#liveTries += 1;
    const settled = (isLate: boolean): void => {
      if (isLate) this.#late();
      this.#liveTries -= 1;
      this.#checkGone();
    };
    result.then(
      () => settled(this.#isOver),
      () => settled(false),
    );
    return result;
  }

  /** Calls the load. */
  #try(attempt: number): ReturnType<Load<T>> {
    const { events, options, load } = this.#host;
    const { round, entry } = this;
    const abort = this.#abort;
    if (round !== undefined && attempt === 1) {
      this.startedAt = this.#clock.monotonic();
      events.emit('load-started', this.details);
      abort.signal.throwIfAborted(); // a listener may have superseded it
    }
    const context = new TryContext(this.details, attempt, abort);
    const { last, value, promise } = entry;
    this.previous = promise;
    if (options.kind !== 'task')
      context.previous = last && new PreviousValue(value, last.endedAt, last.meta, this);
    if (round?.token !== undefined) context.token = round.token;
    this.#context = context;
    const trace = this.#trace;
    return trace === undefined
      ? load(context, entry, abort)
      : trace.call(attempt, () => load(context, entry, abort));
  }

  /** Its result is here, or it is ended: how long it took, in milliseconds. The first call counts. */
  measured(): number {
    this.#duration ??= this.#clock.monotonic() - this.startedAt;
    return this.#duration;
  }

  /** Its end, once its result is applied: for the log of the member, listeners and instruments. The first call counts. */
  report(end: ExecutionEnd): void {
    this.#report(this.#recordOf(end, this.measured()));
  }

  #report(record: ExecutionRecord<Error>): void {
    if (this.#record !== undefined) return;
    this.#record = record;
    this.#host.events.ended(record);
    this.#trace?.end(record);
  }

  #recordOf(end: ExecutionEnd, took: number): ExecutionRecord<Error> {
    const { attempts, tries, round, details } = this;
    const startedAt = this.#host.options.now() - (this.#clock.monotonic() - this.startedAt);
    return executionRecord(
      details,
      { startedAt, took, attempts, tries, token: round?.token, bytes: round?.bytes },
      end,
    );
  }

  /** Its result has arrived after it was over. */
  #late(): void {
    const took = this.#clock.monotonic() - this.startedAt;
    this.#host.events.ended(this.#recordOf({ outcome: 'late' }, took));
  }

  #settle(end: FlightEnd<T>): void {
    if (this.#isOver) {
      if (end.kind === 'loaded') this.#late();
      this.#hasSettled = true;
      this.#checkGone();
      return;
    }
    this.#close();
    this.#host.settled(this, end);
  }

  #timeOut(): void {
    const cause = this.#tries.at(-1)?.error;
    const error = timeoutError(this.#host.options, this.entry.key, this.#attempts, cause, this.waitedFor);
    this.end(error);
    this.#host.settled(this, { kind: 'timed-out', error, attempts: this.#attempts });
  }

  #pause(ms: number, error: Error): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    const delay = Math.max(ms, retryAfterMs(error, this.#clock.now()));
    if (this.#clock.monotonic() + delay >= this.#deadlineAt) return Promise.resolve(false);
    this.#tries = [...this.#tries, { error, pause: delay }].slice(-MOST_EARLIER_TRIES);
    // It ends too when it is superseded meanwhile: the round waits for the last try.
    return this.#sleep(delay).then(
      () => true,
      () => false,
    );
  }

  /** @param earlyByMs as of `setSharedTimeout`. */
  #sleep(ms: number, earlyByMs: number = 0): Promise<void> {
    const { signal } = this.#abort;
    return new Promise((resolve, reject) => {
      const wake = (): void => reject(signal.reason);
      if (signal.aborted) return wake();
      signal.addEventListener('abort', wake);
      this.#startTimer(
        () => {
          signal.removeEventListener('abort', wake);
          resolve();
        },
        ms,
        earlyByMs,
      );
    });
  }

  #checkGone(): void {
    if (this.#hasSettled && this.#liveTries === 0) this.#leave();
  }

  #leave(): void {
    if (!this.#isLingering) return;
    this.#isLingering = false;
    this.#close();
    this.#host.gone(this);
  }

  #startTimer(callback: () => void, delayMs: number, earlyByMs: number = 0): void {
    if (!this.#isOver) this.#addTimer(callback, delayMs, earlyByMs);
  }

  #addTimer(callback: () => void, delayMs: number, earlyByMs: number = 0): void {
    const clock = this.#clock;
    const fire = (): void => {
      this.#timers = this.#timers.filter((other) => other !== timer);
      callback();
    };
    const timer =
      earlyByMs > 0 ? setSharedTimeout(clock, fire, delayMs, earlyByMs) : clock.setTimeout(fire, delayMs);
    this.#timers = this.#timers.concat(timer);
    if (this.#refs > 0) timer.ref();
  }

  #close(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers = NO_TIMERS;
  }
}
