import { isTicklessError, type TicklessEvent } from '../../../../src/index.ts';
import type { Call, Loaded, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/**
 * The results of calls. Rule 2: with a value a call does not wait. Rule 3: concurrent waits share one error. Rule 5:
 * inside a cool-down the last error is the cause. Rule 7: no result is of a load that began before an invalidation.
 * Rule
 * 16: an unavailable lock is not an error if loads may run without it.
 */
export class Calls implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** All of them: a caller that waits for many keys gets that of one when all have ended. */
  readonly #failures: Set<unknown> = new Set();
  #lastFailure: unknown;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  emitted(event: TicklessEvent): void {
    if (event.type !== 'load-ended' || event.retryAt === undefined) return;
    this.#failures.add(event.error);
    this.#lastFailure = event.error;
  }

  settled(call: Call): void {
    const { outcome } = call;
    if (outcome === undefined || call.what === 'current') return;
    if ('error' in outcome) this.#rejected(call, outcome.error);
    else if (call.what !== 'request' && call.what !== 'execute')
      this.#resolved(call, outcome.value as Loaded);
  }

  stepped(): void {
    for (const call of this.#subject.waiting) {
      const { wasLoaded, mayWait, what } = call;
      call.hasWaited = true;
      const isServed = wasLoaded && !mayWait;
      this.#world.referee.holds(
        2,
        !isServed,
        () => `${this.#subject.id}: ${what} waits although there is a value`,
      );
    }
  }

  #resolved({ what, order, at, wasLoaded, hasWaited }: Call, value: Loaded): void {
    const { id, mark } = this.#subject;
    const { referee } = this.#world;
    const run = this.#world.freshness.get(value?.serial)?.by;
    const isWaiting = what === 'refresh' || (!wasLoaded && hasWaited); // the others get the present value
    if (run?.subject !== this.#subject) return; // of another instance, or set by hand: see values.ts
    if (what === 'refresh' && run.endedAt !== undefined) {
      referee.holds(
        7,
        run.endedAt >= at,
        () => `${id}: ${what} got load ${run.serial}, which had ended before`,
      );
    }
    const isBefore = mark !== undefined && mark.order < order && run.serial < mark.order;
    const isWrong = isBefore && !this.#world.mayLookYounger(this.#subject, run, mark.at);
    referee.holds(7, !isWrong || !isWaiting, () => {
      return `${id}: ${what} after ${mark?.kind} got load ${run.serial}, which began before it`;
    });
  }

  #rejected({ what, wasLoaded, mayWait, signal, isOfMany }: Call, error: unknown): void {
    const { id, options } = this.#subject;
    const { referee } = this.#world;
    const message = error instanceof Error ? error.message : String(error);
    if (signal?.aborted && signal.reason === error) return;
    // Those have other reasons: see results.ts.
    if (
      isTicklessError(error, 'CLOSED') ||
      isTicklessError(error, 'ABSENT') ||
      isTicklessError(error, 'TOO_STALE') ||
      isTicklessError(error, 'NOT_LOADED')
    )
      return;
    const isServed = wasLoaded && what === 'get' && !mayWait;
    referee.holds(2, !isServed, () => `${id}: ${what} was rejected although there is a value: ${message}`);
    if (isTicklessError(error, 'BACKEND_DOWN')) {
      referee.holds(16, !options.mayLoadWithoutLock, () => `${id}: ${what} was rejected: ${message}`);
    }
    if (isTicklessError(error, 'COOLING_DOWN')) {
      const isLast = isOfMany ? this.#failures.has(error.cause) : error.cause === this.#lastFailure;
      referee.holds(5, isLast, () => `${id}: a cool-down names a cause that is not the last failure`);
      return;
    }
    const isOfLoad =
      isTicklessError(error, 'LOAD_FAILED') ||
      isTicklessError(error, 'TIMED_OUT') ||
      isTicklessError(error, 'LEASE_LOST') ||
      isTicklessError(error, 'BACKEND_DOWN');
    referee.holds(3, isOfLoad, () => `${id}: ${what} was rejected with something else: ${message}`);
    // A read during a superseded load waits for the next one, within a deadline of its own.
    const isOwnLimit = isTicklessError(error, 'TIMED_OUT') && error.attempts === 0;
    referee.holds(3, this.#failures.has(error) || isOwnLimit, () => {
      return `${id}: ${what} was rejected with an error of its own: ${message}`;
    });
  }
}
