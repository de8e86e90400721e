import type { LoadTimeoutError } from '../errors.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { type RetryOptions, retrying } from './retry.ts';
import type { LoadHandle } from './waiters.ts';

/** What became of an execution. `attempts` counts the calls of the load, 1 or more. */
export type Outcome<A> =
  | {
      readonly kind: 'answered';
      readonly answer: A;
      readonly attempts: number;
      /** It came without a promise. */
      readonly isSynchronous: boolean;
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly attempts: number }
  | { readonly kind: 'timed-out'; readonly error: LoadTimeoutError; readonly attempts: number };

/** What code around the tries has of the flight. */
export interface Around {
  readonly signal: AbortSignal;
  /** When it is timed out (monotonic). */
  readonly deadlineAt: number;
  /** Resolves after so many milliseconds; rejects with the reason when the flight is ended before. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** What a flight needs to know, fixed before it departs. */
export interface FlightPlan<A> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryOptions | undefined;
  /** The deadline over all tries together; `Infinity`: none. */
  readonly timeoutMs: number;
  readonly attempt: (attempt: number, signal: AbortSignal) => A | PromiseLike<A>;
  /**
   * What is done around the tries: the flight lands with what it resolves or rejects with, be that what the tries
   * brought or not. `undefined`: nothing, so that a synchronous load lands at once.
   */
  readonly around: ((tries: () => Promise<A>, around: Around) => Promise<A>) | undefined;
  /** How long the source asked to be left alone after that error, in milliseconds. */
  readonly restAfter: (error: unknown) => number;
  /** The reason of the abort at the deadline. */
  readonly timeoutReason: (attempts: number, lastError: unknown) => LoadTimeoutError;
  /** Called once, unless the flight is ended from outside before. Never throws. */
  readonly land: (outcome: Outcome<A>) => void;
  /** Called when a result arrives after the flight was over. Never throws. */
  readonly late: () => void;
}

/**
 * One execution from its first try to its end: the tries, the pauses between them, and the deadline over all.
 *
 * It lands exactly once, whatever the load does: throw, reject, return at once, never settle, throw from `then`.
 * Two endings race, and the first closes the flight:
 *
 *  1. the deadline fires, ends the flight (abort, timers gone) and lands it as timed out;
 *  2. the load settles a moment later, finds the flight over, and is reported as late. The other way round, landing
 *     cancels the deadline.
 *
 * Timers exist only while it is under way, and keep the process alive only while somebody waits ({@link hold}).
 */
export class Flight<A> implements LoadHandle {
  readonly #plan: FlightPlan<A>;
  readonly #controller: AbortController = new AbortController();
  readonly #timers: Set<Timer> = new Set();
  #attempts = 0;
  #lastError: unknown;
  #deadlineAt = Number.POSITIVE_INFINITY;
  #holds = 0;
  #isOver = false;
  #hasDeparted = false;

  constructor(plan: FlightPlan<A>) {
    this.#plan = plan;
  }

  get hasBegun(): boolean {
    return this.#isOver || this.#hasDeparted;
  }

  /** Makes the first try, on the caller's stack. A load that is synchronous has landed when this returns. */
  depart(): void {
    if (this.hasBegun) return; // superseded, or hurried, while it waited for its turn
    this.#hasDeparted = true;
    const { clock, timeoutMs, around } = this.#plan;
    this.#deadlineAt = clock.monotonic() + timeoutMs;
    if (around !== undefined) {
      this.#startDeadline();
      const { signal } = this.#controller;
      const deadlineAt = this.#deadlineAt;
      const sleep = (ms: number): Promise<void> => this.#sleep(ms);
      this.#landWith(around(() => this.#tries(), { signal, deadlineAt, sleep }));
      return;
    }
    const first = this.#firstTry();
    if (!('then' in first)) {
      this.#land(first);
      return;
    }
    this.#startDeadline(); // the first try may have held the stack for a while
    this.#landWith(this.#allTries(first));
  }

  /**
   * Makes the first try behind the caller: after the code that runs now (`'microtask'`), or, for a load that is
   * known to be synchronous and would hold up those who await a value, after all that is ready to run (`'macrotask'`).
   */
  departBehind(turn: 'microtask' | 'macrotask'): void {
    if (turn === 'macrotask') this.#startTimer(() => this.depart(), 0);
    else Promise.resolve().then(() => this.depart());
  }

  hold(): void {
    if (this.#holds++ === 0) for (const timer of this.#timers) timer.ref();
  }

  release(): void {
    if (--this.#holds === 0) for (const timer of this.#timers) timer.unref();
  }

  /** Ends it from inside, as failed: the load is aborted with the error. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.end(error);
    this.#plan.land({ kind: 'failed', error, attempts: this.#attempts });
  }

  end(reason: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#controller.abort(reason);
  }

  #attempt(attempt: number): A | PromiseLike<A> {
    this.#attempts = attempt;
    return this.#plan.attempt(attempt, this.#controller.signal);
  }

  #startDeadline(): void {
    if (this.#deadlineAt === Infinity || this.#isOver) return;
    this.#startTimer(() => this.#timeOut(), Math.max(0, this.#deadlineAt - this.#plan.clock.monotonic()));
  }

  #landWith(answer: Promise<A>): void {
    answer.then(
      (answer) => this.#land({ kind: 'answered', answer, attempts: this.#attempts, isSynchronous: false }),
      (error) => this.#land({ kind: 'failed', error, attempts: this.#attempts }),
    );
  }

  #tries(): Promise<A> {
    const first = this.#firstTry();
    if ('then' in first) return this.#allTries(first);
    return first.kind === 'answered'
      ? Promise.resolve(first.answer)
      : Promise.reject((first as { error: unknown }).error);
  }

  /** The outcome of a synchronous load, or a promise of what is still to come. */
  #firstTry(): Outcome<A> | Promise<A> {
    try {
      const answer = this.#attempt(1);
      // Promise.resolve calls a foreign `then` in a job of its own and turns what it throws into a rejection.
      return isThenable(answer)
        ? Promise.resolve(answer as PromiseLike<A>)
        : { kind: 'answered', answer: answer as A, attempts: 1, isSynchronous: true };
    } catch (error) {
      return this.#plan.retry === undefined
        ? { kind: 'failed', error, attempts: 1 }
        : ignoreRejection(Promise.reject(error));
    }
  }

  #allTries(first: Promise<A>): Promise<A> {
    const { retry, random, clock } = this.#plan;
    if (retry === undefined) return first;
    const tries = (attempt: number): Promise<A> => {
      const answer = attempt === 1 ? first : Promise.resolve(this.#attempt(attempt));
      return answer.then((value) => {
        if (this.#isOver) this.#plan.late(); // p-retry tells only that it was aborted
        return value;
      });
    };
    return retrying(tries, retry, {
      signal: this.#controller.signal,
      random,
      now: () => clock.monotonic(),
      pause: (ms, error) => this.#pause(ms, error),
    });
  }

  #land(outcome: Outcome<A>): void {
    if (this.#isOver) {
      if (outcome.kind === 'answered') this.#plan.late();
      return;
    }
    this.#close();
    this.#plan.land(outcome);
  }

  #timeOut(): void {
    const error = this.#plan.timeoutReason(this.#attempts, this.#lastError);
    this.end(error);
    this.#plan.land({ kind: 'timed-out', error, attempts: this.#attempts });
  }

  #pause(ms: number, error: Error): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    this.#lastError = error;
    const { clock, restAfter } = this.#plan;
    const delay = Math.max(ms, restAfter(error));
    if (clock.monotonic() + delay >= this.#deadlineAt) return Promise.resolve(false);
    // Superseded meanwhile, it ends too: what goes around the tries waits for the last of them.
    return this.#sleep(delay).then(
      () => true,
      () => false,
    );
  }

  #sleep(ms: number): Promise<void> {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      const wake = (): void => reject(signal.reason);
      if (signal.aborted) return wake();
      signal.addEventListener('abort', wake);
      this.#startTimer(() => {
        signal.removeEventListener('abort', wake);
        resolve();
      }, ms);
    });
  }

  #startTimer(callback: () => void, delayMs: number): void {
    if (this.#isOver) return;
    const timer = this.#plan.clock.setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, delayMs);
    this.#timers.add(timer);
    if (this.#holds > 0) timer.ref();
  }

  #close(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
