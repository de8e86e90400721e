import type { FailedTry } from '../data/execution-record.ts';
import type { TicklessError } from '../errors.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { ignoreRejection, isThenable, rejected } from '../time/deferred.ts';
import { LazyAbort } from '../time/lazy-abort.ts';
import { setSharedTimeout } from '../time/shared-timer.ts';
import type { LoadHandle, OutdatedBy } from './load-handle.ts';
import { type ResolvedRetry, retrying } from './retry.ts';

/** How an execution ended. `attempts` counts the calls of the load, 1 or more. */
export type FlightEnd<A> =
  | {
      readonly kind: 'loaded';
      readonly result: A;
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

/** The flight, as the wrapper of its tries sees it. */
export interface FlightScope {
  readonly signal: AbortSignal;
  /** Until when its load may go on if it is ended now (monotonic): its deadline, or 30 s without one. */
  readonly drainDeadline: () => number;
  /**
   * Resolves after half of `ms` to `ms` milliseconds, together with other flights that wait; rejects with the reason when the flight is
   * ended before.
   */
  readonly sleep: (ms: number) => Promise<void>;
}

/** With the last one there are ten. */
const MOST_EARLIER_TRIES = 9;

/** One for all: most loads have none, or one. */
const NO_TIMERS: readonly Timer[] = [];
const NO_TRIES: readonly FailedTry<Error>[] = [];

/** How long a load without a deadline may go on after its abort, before another may start. */
const LONGEST_LINGER_MS = 30_000;

/**
 * One execution from its first try to its end: the tries, the pauses between them, and the deadline over all.
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
export abstract class Flight<A> implements LoadHandle {
  outdatedBy: OutdatedBy | undefined = undefined;
  reloadAfter: 'read' | 'forced' | undefined = undefined;
  abstract readonly startedAt: number;
  protected readonly clock: Clock;
  readonly #retry: ResolvedRetry | undefined;
  /** A load that throws on the stack of a caller is not tried again: the caller gets the error at once. */
  readonly #failsOnStack: boolean;
  readonly #timeoutMs: number;
  readonly #abort: LazyAbort = new LazyAbort();
  /** Those that run. */
  #timers: readonly Timer[] = NO_TIMERS;
  #attempts = 0;
  #tries = NO_TRIES;
  #deadlineAt = Infinity;
  #refs = 0;
  #isOver = false;
  #hasStarted = false;
  /** Over, and the promise of all tries, or of the wrapper, has settled. */
  #hasSettled = false;
  /** Tries under p-retry that have not settled: p-retry itself ends with the abort. */
  #liveTries = 0;
  #isLingering = false;

  /** @param timeoutMs the deadline over all tries together; `Infinity`: none. */
  constructor(clock: Clock, timeoutMs: number, retry: ResolvedRetry | undefined, failsOnStack: boolean) {
    this.clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#retry = retry;
    this.#failsOnStack = failsOnStack;
  }

  /** Calls the load. */
  protected abstract attempt(attempt: number, abort: LazyAbort): A | PromiseLike<A>;
  /**
   * Wraps the tries: the flight settles with the result of the wrapper. `undefined`: no wrapper, and a synchronous load
   * settles at once.
   */
  protected abstract readonly wrap: ((tries: () => Promise<A>, scope: FlightScope) => Promise<A>) | undefined;
  /** The jitter of the pause after that error. */
  protected abstract jitterAfter(error: unknown): number;
  /** How long the source asked not to be called after that error, in milliseconds. */
  protected abstract restAfter(error: unknown): number;
  /** The reason of the abort at the deadline. */
  protected abstract timeoutReason(attempts: number, lastError: unknown): TicklessError;
  /** Called once, unless the flight is ended from outside before. Never throws. */
  protected abstract settled(end: FlightEnd<A>): void;
  /** Called when it is ended before its load has settled, first of all. Never throws. */
  protected abstract ended(reason: Error): void;
  /** Called when a result arrives after the flight was over. Never throws. */
  protected abstract late(): void;
  /** Called once after {@link abortAndDrain}: the load has settled, or its deadline has passed. Never throws. */
  protected abstract gone(): void;

  get waitedFor(): string | undefined {
    return undefined;
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
    this.#start(this.#failsOnStack && this.wrap === undefined);
  }

  #start(failsAtOnce: boolean): void {
    if (this.#isOver || this.#hasStarted) return; // superseded, or started early, while it waited for its turn
    this.#hasStarted = true;
    const { clock, wrap } = this;
    const now = clock.monotonic();
    this.#deadlineAt = now + this.#timeoutMs;
    if (wrap !== undefined) {
      this.#startDeadline(now);
      this.#settleWith(this.#wrapped(wrap));
      return;
    }
    const first = this.#firstTry(failsAtOnce);
    if (!('then' in first)) {
      this.#settle(first);
      return;
    }
    const later = clock.monotonic(); // the first try may have held the stack for a while
    this.#startDeadline(later);
    this.#settleWith(first, later);
  }

  #wrapped(wrap: NonNullable<typeof this.wrap>): Promise<A> {
    return wrap(() => this.#allTries(), {
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
    this.settled({ kind: 'failed', error, attempts: this.#attempts });
  }

  cancel(errorOf: (attempts: number) => TicklessError): void {
    if (this.#isOver) return;
    const attempts = this.#attempts;
    const error = errorOf(attempts);
    const isLive = this.#hasStarted;
    if (isLive) this.abortAndDrain(error);
    else this.end(error);
    this.settled({ kind: 'cancelled', error, attempts, isLive });
  }

  end(reason: Error): void {
    this.#isLingering = false;
    const wasOver = this.#isOver;
    this.#close(); // it may have lingered until now
    if (wasOver) return;
    this.ended(reason);
    this.#abort.abort(reason);
  }

  abortAndDrain(reason: Error): void {
    if (this.#isOver) return;
    this.end(reason);
    this.#isLingering = true;
    const left = this.#drainDeadline() - this.clock.monotonic();
    this.#addTimer(() => this.#leave(), Math.max(0, left));
  }

  #drainDeadline(): number {
    if (this.#deadlineAt < Infinity) return this.#deadlineAt;
    return this.clock.monotonic() + LONGEST_LINGER_MS;
  }

  #startDeadline(now: number): void {
    if (this.#deadlineAt === Infinity || this.#isOver) return;
    this.#addTimer(() => this.#timeOut(), Math.max(0, this.#deadlineAt - now));
  }

  /** @param firstTryAt it is the first try, which may be followed by others: when that was made (monotonic). */
  #settleWith(result: Promise<A>, firstTryAt?: number): void {
    result.then(
      (result) => this.#settle({ kind: 'loaded', result, attempts: this.#attempts, isSynchronous: false }),
      (error) => {
        const others = firstTryAt === undefined ? undefined : this.#otherTries(error, firstTryAt);
        if (others === undefined) this.#settle({ kind: 'failed', error, attempts: this.#attempts });
        else this.#settleWith(others);
      },
    );
  }

  #allTries(): Promise<A> {
    const first = this.#firstTry(false);
    if ('then' in first) {
      const now = this.clock.monotonic();
      return first.catch((error) => this.#otherTries(error, now) ?? first);
    }
    return first.kind === 'loaded'
      ? Promise.resolve(first.result)
      : Promise.reject((first as { error: unknown }).error);
  }

  /** The outcome of a synchronous load, or a promise of what is still to come. */
  #firstTry(failsAtOnce: boolean): FlightEnd<A> | Promise<A> {
    try {
      this.#attempts = 1;
      const result = this.attempt(1, this.#abort);
      // Promise.resolve calls a user's `then` in a job of its own and turns what it throws into a rejection.
      return isThenable(result)
        ? Promise.resolve(result as PromiseLike<A>)
        : { kind: 'loaded', result: result as A, attempts: 1, isSynchronous: true };
    } catch (error) {
      return failsAtOnce || this.#retry === undefined
        ? { kind: 'failed', error, attempts: 1 }
        : ignoreRejection(Promise.reject(error));
    }
  }

  /** Only a first try that has failed is given to p-retry. `undefined`: no other follows. */
  #otherTries(error: unknown, startedAt: number): Promise<A> | undefined {
    const retry = this.#retry;
    if (retry === undefined || this.#isOver) return undefined;
    const { clock } = this;
    const first = rejected(error); // p-retry does not look at it where its options are invalid
    const tries = (attempt: number): Promise<A> => {
      if (attempt === 1) return first;
      this.#attempts = attempt;
      return this.#track(Promise.resolve(this.attempt(attempt, this.#abort)));
    };
    return retrying(tries, retry, {
      signal: this.#abort.signal,
      startedAt,
      random: (error) => this.jitterAfter(error),
      now: () => clock.monotonic(),
      pause: (ms, error) => this.#pause(ms, error),
    });
  }

  /** p-retry reports only the abort: a try may go on after that. */
  #track(result: Promise<A>): Promise<A> {
    this.#liveTries += 1;
    const settled = (isLate: boolean): void => {
      if (isLate) this.late();
      this.#liveTries -= 1;
      this.#checkGone();
    };
    result.then(
      () => settled(this.#isOver),
      () => settled(false),
    );
    return result;
  }

  #settle(end: FlightEnd<A>): void {
    if (this.#isOver) {
      if (end.kind === 'loaded') this.late();
      this.#hasSettled = true;
      this.#checkGone();
      return;
    }
    this.#close();
    this.settled(end);
  }

  #timeOut(): void {
    const error = this.timeoutReason(this.#attempts, this.#tries.at(-1)?.error);
    this.end(error);
    this.settled({ kind: 'timed-out', error, attempts: this.#attempts });
  }

  #pause(ms: number, error: Error): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    const delay = Math.max(ms, this.restAfter(error));
    if (this.clock.monotonic() + delay >= this.#deadlineAt) return Promise.resolve(false);
    this.#tries = [...this.#tries, { error, pause: delay }].slice(-MOST_EARLIER_TRIES);
    // It ends too when it is superseded meanwhile: the wrapper waits for the last try.
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
    this.gone();
  }

  #startTimer(callback: () => void, delayMs: number, earlyByMs: number = 0): void {
    if (!this.#isOver) this.#addTimer(callback, delayMs, earlyByMs);
  }

  #addTimer(callback: () => void, delayMs: number, earlyByMs: number = 0): void {
    const { clock } = this;
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
