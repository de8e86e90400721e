import { isOptionError } from '../errors.ts';
import { Outage } from '../observe/outage.ts';
import type { Clock } from '../time/clock.ts';
import { Semaphore } from '../time/semaphore.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { isDamage } from './damage.ts';

/** How many steps one lock or store object has under way at a time, however many members and keys use it. */
const MAX_CONCURRENT_STEPS = 32;

/** An adapter should limit the time of its steps by itself. One that does not must not delay what comes after. */
const LONGEST_STEP_MS = 15_000;

/** The result of asking a backend. */
export type Asked<R> =
  | {
      readonly kind: 'answered';
      readonly answer: R /** It ended an outage of this length, in milliseconds. */;
      readonly outageMs?: number;
    }
  | { readonly kind: 'resting'; readonly cause: unknown; readonly restsFor: number }
  | {
      readonly kind: 'failed';
      readonly cause: unknown /** This began an outage. */;
      readonly isFirst: boolean;
    };

/** How a step is asked. */
export interface AskOptions {
  readonly clock: Clock;
  /** How long the backend rests after a failure. */
  readonly restMs: number;
  /**
   * A step that writes a payload. Its failure alone does not prove an outage: the payload may be at fault (as a damaged
   * record may, where a lock is asked). The backend is then asked by one caller at a time until it has answered, and rests after three such failures in a row. During a rest
   * that began with another step, one write is the probe. @default false
   */
  readonly isWrite?: boolean;
}

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
 */
export class BackendAccess<S> {
  /** The methods of the object. */
  readonly steps: S;
  /** How long one step may take, in milliseconds. */
  readonly limitMs: number;
  readonly breaker: CircuitBreaker = new CircuitBreaker();
  /** Its outages, as far as they are logged. */
  readonly outage: Outage = new Outage();
  readonly #semaphore: Semaphore = new Semaphore(MAX_CONCURRENT_STEPS);
  /** Settles when the pilot has its result. Never rejects. */
  #pilot: Promise<unknown> | undefined;

  /** @param limitMs `Infinity`: no limit of its own. */
  constructor(steps: S, limitMs: number = Number.POSITIVE_INFINITY) {
    this.steps = steps;
    this.limitMs = limitMs;
  }

  /**
   * Asks the backend, unless it rests.
   *
   * @param step gets whether it is a probe: the first step after a rest.
   * @throws {OptionError} of the step: the caller has broken a rule, which says nothing of the backend.
   */
  async ask<R>(step: (isProbe: boolean) => Promise<R>, options: AskOptions): Promise<Asked<R>> {
    const { clock } = options;
    for (;;) {
      const resting = this.#resting(options);
      if (resting !== undefined) return resting;
      if (this.breaker.isTrusted(clock.monotonic())) {
        // Again when its turn comes: the backend may have stopped answering meanwhile.
        return this.#semaphore.run(async () => this.#resting(options) ?? this.#try(step, options));
      }
      if (this.#pilot === undefined) break;
      await this.#pilot;
    }
    const result = this.#try(step, options);
    const pilot = result.then(
      () => {},
      () => {},
    );
    this.#pilot = pilot;
    void pilot.then(() => {
      if (this.#pilot === pilot) this.#pilot = undefined;
    });
    return result;
  }

  #resting({ clock, isWrite }: AskOptions): Extract<Asked<never>, { readonly kind: 'resting' }> | undefined {
    const restsFor = this.breaker.restsFor(clock.monotonic(), isWrite);
    return restsFor > 0 ? { kind: 'resting', cause: this.breaker.cause, restsFor } : undefined;
  }

  /** Runs a step that does not depend on the breaker: a lease that is held is released whatever the backend did before. */
  run<R>(step: () => Promise<R>): Promise<R> {
    return this.#semaphore.run(step);
  }

  async #try<R>(
    step: (isProbe: boolean) => Promise<R>,
    { clock, restMs, isWrite = false }: AskOptions,
  ): Promise<Asked<R>> {
    const { breaker } = this;
    const isProbe = breaker.isBroken;
    const isResting = breaker.restsFor(clock.monotonic()) > 0;
    try {
      const answer = await step(isProbe);
      const now = clock.monotonic();
      const outageMs = now - breaker.brokenSince;
      return breaker.succeeded(now) ? { kind: 'answered', answer, outageMs } : { kind: 'answered', answer };
    } catch (cause) {
      if (isOptionError(cause)) throw cause;
      const isDoubtful = isWrite ? !isResting : !isProbe && isDamage(cause);
      if (isDoubtful && breaker.doubted()) return { kind: 'failed', cause, isFirst: false };
      const isFirst = breaker.failed(cause, clock.monotonic(), restMs, isWrite);
      return { kind: 'failed', cause, isFirst };
    }
  }
}

/**
 * Limits the time of a step of a lock, a store or a codec.
 *
 * @param limitMs where less time is left. @default 15 seconds
 */
export function limited<R>(
  step: () => R | PromiseLike<R>,
  clock: Clock,
  limitMs: number = LONGEST_STEP_MS,
): Promise<R> {
  return withTimeout(step, Math.min(limitMs, LONGEST_STEP_MS), clock);
}
