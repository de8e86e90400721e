import { coordinationKey } from '../engine/coordination-key.ts';
import type { LockLike, StoreLike } from '../engine/coordinator.ts';
import { isTicklessError } from '../errors.ts';
import { Outage } from '../observe/outage.ts';
import { ownOptions } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import { Semaphore } from '../time/semaphore.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { AnswerWatch, OverdueError } from './answer-watch.ts';
import { type BackendPatience, PATIENT } from './backend-patience.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { isDamage } from './damage.ts';
import { LONGEST_STEP_MS, writeTimeoutMs } from './time-limits.ts';

/** How many steps one lock or store object has under way at a time, however many members and keys use it. */
export const MAX_CONCURRENT_STEPS = 32;

/** Commands that several steps share, and that limit themselves how many of them are under way. */
export interface Commands {
  /** The backend is silent: the commands under way count as lost. */
  silent(): void;
}

/** The name and the outages of a backend, for log lines. */
export interface BackendLabel {
  /** Its name. @default 'backend' */
  readonly backend?: string | undefined;
  /** Of the lock and the store of one backend: its outage is logged once. @default one of its own */
  readonly outage?: Outage | undefined;
}

/** For the lock and the store of one backend together. */
export function newOutage(): Outage {
  return new Outage();
}

/** The result of asking a backend. */
export type BackendReply<R> =
  | { readonly kind: 'answered'; readonly answer: R }
  | {
      readonly kind: 'open';
      readonly cause: unknown;
      /** Milliseconds; 0: a probe is under way, or the step was not wanted any longer. */
      readonly openFor: number;
      /** The step of this caller, which runs behind it as the probe. May reject with an `OPTION` error. */
      readonly probe?: Promise<BackendReply<R>>;
    }
  | { readonly kind: 'failed'; readonly cause: unknown };

/**
 * The way to the backend of one lock or store object. All members and keys that use the object share its limit of
 * concurrent steps and its circuit breaker.
 *
 * A backend that has not answered for a second is asked by one caller first, the pilot; the others wait for its result.
 * So an outage costs as many steps as one member makes, however many are due at the time:
 *
 *  1. 200 members are due; the first becomes the pilot, 199 wait;
 *  2. the pilot fails: the breaker opens, and the 199 go on without the backend;
 *  3. or it succeeds: the backend is trusted, and the 199 ask, 32 at a time.
 *
 * In an outage the pilot is a probe. A caller that does not wait for it (a reader without a value waits for the caller)
 * goes on without the backend, and its step, if it is the first one after the pause, runs behind.
 */
export class BackendAccess<S> {
  /** The methods of the object. */
  readonly steps: S;
  /** How long a step is waited for that a load needs, in milliseconds, while the backend is silent: acquire, read. */
  readonly limitMs: number;
  /** How long one that no reader waits for: extend, release, write. */
  readonly backgroundTimeoutMs: number;
  readonly breaker: CircuitBreaker = new CircuitBreaker();
  /** Waits for the answers of steps. Any answer closes the breaker. */
  readonly answers: AnswerWatch;
  /** Its name in log lines. */
  readonly name: string;
  /** Its outages, as far as they are logged. */
  readonly outage: Outage;
  readonly #semaphore: Semaphore;
  /**
   * Of reads (`false`) and of writes (`true`), which take longer. Each settles when the pilot has its result, and never
   * rejects.
   */
  readonly #pilots: Map<boolean, Promise<void>> = new Map();

  /** Adds what the client knows of an error. */
  readonly explain: (error: unknown) => unknown;

  /**
   * @param explain adds what the client knows of an error.
   * @param commands where several steps share one: the limit of concurrent steps is theirs. @default each step is a command
   * @param label for the log. @default that of a backend of its own
   */
  constructor(
    steps: S,
    limitMs: number,
    explain: (error: unknown) => unknown = (error) => error,
    commands?: Commands,
    { backend = 'backend', outage = new Outage() }: BackendLabel = {},
  ) {
    this.name = backend;
    this.outage = outage;
    this.explain = explain;
    this.steps = steps;
    this.limitMs = limitMs;
    this.backgroundTimeoutMs = writeTimeoutMs(limitMs);
    const { breaker } = this;
    this.answers = new AnswerWatch(
      limitMs,
      (now) => breaker.succeeded(now),
      () => commands?.silent(),
    );
    this.#semaphore = new Semaphore(commands ? Infinity : MAX_CONCURRENT_STEPS);
  }

  /**
   * Asks the backend, unless the breaker is open.
   *
   * @param step gets whether it is a probe: the first step after the breaker was open.
   * @throws {TicklessError} `OPTION` of the step: the caller has broken a rule, which says nothing of the backend.
   */
  async ask<R>(
    step: (isProbe: boolean) => Promise<R>,
    clock: Clock,
    patience: BackendPatience = PATIENT,
  ): Promise<BackendReply<R>> {
    for (;;) {
      const open = this.#open(clock, patience);
      if (open !== undefined) return open;
      if (this.breaker.isTrusted(clock.monotonic())) {
        // Again when its turn comes: the backend may have stopped answering meanwhile.
        return this.#semaphore.run(
          async () => this.#open(clock, patience) ?? this.#try(step, clock, patience),
        );
      }
      const goesOn = this.breaker.isTripped && patience.waitsForProbe === false;
      const pilot = this.#pilots.get(patience.isWrite === true);
      if (pilot === undefined) {
        const result = this.#lead(step, clock, patience);
        return goesOn ? { ...this.#down(0), probe: result } : result;
      }
      if (goesOn) return this.#down(0);
      await pilot;
    }
  }

  /**
   * Asks once more, although the breaker is open: the answer of the step before may be lost. Where several steps had no
   * answer, one of them asks first, and the others only if that one gets an answer.
   */
  async askAgain<R>(step: (isProbe: boolean) => Promise<R>, clock: Clock): Promise<BackendReply<R>> {
    const pilot = this.#pilots.get(false);
    if (pilot === undefined) return this.#lead(step, clock, PATIENT);
    await pilot;
    return this.#open(clock, PATIENT) ?? this.#semaphore.run(() => this.#try(step, clock, PATIENT));
  }

  /** Asks as the pilot. */
  #lead<R>(
    step: (isProbe: boolean) => Promise<R>,
    clock: Clock,
    patience: BackendPatience,
  ): Promise<BackendReply<R>> {
    const isWrite = patience.isWrite === true;
    const result = this.#try(step, clock, patience);
    const settle = (): void => void this.#pilots.delete(isWrite);
    this.#pilots.set(isWrite, result.then(settle, settle));
    return result;
  }

  #open(
    clock: Clock,
    { isWrite }: BackendPatience,
  ): Extract<BackendReply<never>, { readonly kind: 'open' }> | undefined {
    const openFor = this.breaker.openFor(clock.monotonic(), isWrite);
    return openFor > 0 ? this.#down(openFor) : undefined;
  }

  #down(openFor: number): Extract<BackendReply<never>, { readonly kind: 'open' }> {
    return { kind: 'open', cause: this.breaker.cause, openFor };
  }

  /** Runs a step that does not depend on the breaker: a lease that is held is released whatever the backend did before. */
  run<R>(step: () => Promise<R>): Promise<R> {
    return this.#semaphore.run(step);
  }

  /** As {@link run}, before steps that wait: a lease does not expire because others queue. */
  runUrgent<R>(step: () => Promise<R>): Promise<R> {
    return this.#semaphore.runUrgent(step);
  }

  async #try<R>(
    step: (isProbe: boolean) => Promise<R>,
    clock: Clock,
    patience: BackendPatience,
  ): Promise<BackendReply<R>> {
    const { breaker } = this;
    const { isWrite = false, isWanted } = ownOptions(patience);
    if (isWanted?.() === false) return this.#down(0);
    const isProbe = breaker.isTripped;
    const isOpen = breaker.openFor(clock.monotonic()) > 0;
    try {
      const answer = await step(isProbe);
      breaker.succeeded(clock.monotonic());
      return { kind: 'answered', answer };
    } catch (thrown) {
      if (isTicklessError(thrown, 'OPTION')) throw thrown;
      const cause = this.explain(thrown);
      if (thrown instanceof OverdueError) return { kind: 'failed', cause }; // the backend answers others
      const isInconclusive = isWrite ? !isOpen : !isProbe && isDamage(thrown);
      if (!isInconclusive || !breaker.failedInconclusively()) {
        breaker.failed(cause, clock.monotonic(), { isProbe: isProbe && !isOpen, isWrite });
      }
      return { kind: 'failed', cause };
    }
  }
}

/** The access to its backend that a lock or a store object carries; `undefined`: it is a plain object. */
export function accessOf<S>(backend: LockLike | StoreLike | undefined): BackendAccess<S> | undefined {
  return (backend?.[coordinationKey] as { readonly access: BackendAccess<S> } | undefined)?.access;
}

/**
 * Limits the time of a step of a lock, a store or a codec.
 *
 * @param limitMs where less time is left. @default 15 seconds
 * @param name of the step, for the error.
 */
export function withStepTimeout<R>(
  step: () => R | PromiseLike<R>,
  clock: Clock,
  limitMs: number = LONGEST_STEP_MS,
  name?: string,
): Promise<R> {
  return withTimeout(step, Math.min(limitMs, LONGEST_STEP_MS), clock, name);
}
