import type { Clock, Timer } from '../time/clock.ts';
import { isThenable } from '../time/deferred.ts';
import { Semaphore } from '../time/semaphore.ts';
import type { LoadContext } from './load-context.ts';

/** A place that a call has taken. */
interface Place {
  /** When it is taken back (monotonic). */
  readonly until: number;
}

/** A call that waits for a place: of one entry, or of a batch. */
interface WaitingCall {
  readonly quit: (reason: Error) => void;
  /** How many of its entries still wait. */
  left: number;
}

/** Executions with the same deadline time out first, or those in line would begin at their own deadline. */
const RECLAIM_AFTER_MS = 1;

/**
 * Limits how many calls of loads are under way at a time: those of one cache, or of all members of a group.
 *
 * A call keeps its place until it has settled, so that a load which ignores its signal still counts, but no longer than
 * the deadline of its execution, where it has one: else one that never settles would keep the others waiting for ever. Calls without a place wait in the order
 * in which they came. Between loads there is no timer: places are reclaimed by one only while a call waits.
 */
export class LoadLimit {
  readonly max: number;
  readonly #semaphore: Semaphore;
  readonly #clock: Clock;
  readonly #outer: LoadLimit | undefined;
  readonly #places: Set<Place> = new Set();
  /** By the contexts of their entries. */
  readonly #waiting: Map<LoadContext, WaitingCall> = new Map();
  #reclaim: { readonly timer: Timer; readonly at: number } | undefined;

  /** @param outer a limit that its calls count for too. */
  constructor(max: number, clock: Clock, outer?: LoadLimit) {
    this.max = max;
    this.#semaphore = new Semaphore(max);
    this.#clock = clock;
    this.#outer = outer;
  }

  /** For people: the place for which the load with this context waits. `undefined`: it does not wait. */
  waitedFor(context: LoadContext): string | undefined {
    if (this.#waiting.has(context)) return `waiting for one of ${this.max} places (maxConcurrentLoads)`;
    return this.#outer?.waitedFor(context);
  }

  /** The load with this context is over. A call rejects with the reason if none of its loads waits any longer. */
  giveUp(context: LoadContext, reason: Error): void {
    const call = this.#waiting.get(context);
    if (call === undefined) {
      this.#outer?.giveUp(context, reason);
      return;
    }
    this.#waiting.delete(context);
    call.left -= 1;
    if (call.left === 0) call.quit(reason);
  }

  /**
   * Calls a load: at once and on this stack if a place is free, else when its turn comes. Returns and throws as it does.
   *
   * @param until how long it may wait and keep its place: the deadline of its execution (monotonic).
   * @param contexts returns the contexts of its entries; called only if it has to wait.
   */
  run<R>(
    call: () => R | PromiseLike<R>,
    until: number,
    contexts: () => readonly LoadContext[],
  ): R | PromiseLike<R> {
    const outer = this.#outer;
    const next = outer === undefined ? call : (): R | PromiseLike<R> => outer.run(call, until, contexts);
    const place = { until: until + RECLAIM_AFTER_MS };
    return this.#semaphore.tryEnter() ? this.#call(next, place) : this.#wait(next, place, contexts());
  }

  #call<R>(call: () => R | PromiseLike<R>, place: Place): R | PromiseLike<R> {
    this.#places.add(place);
    this.#reclaimInTime(place.until);
    try {
      const result = call();
      if (isThenable(result)) {
        const promise = Promise.resolve(result);
        const leave = (): void => this.#leave(place);
        promise.then(leave, leave);
        return promise;
      }
      this.#leave(place);
      return result;
    } catch (error) {
      this.#leave(place);
      throw error;
    }
  }

  #wait<R>(call: () => R | PromiseLike<R>, place: Place, contexts: readonly LoadContext[]): Promise<R> {
    return new Promise((resolve, reject) => {
      const quit = this.#semaphore.queue(() => {
        for (const context of contexts) this.#waiting.delete(context);
        this.#stopReclaiming();
        // Not on the stack of the call that has just ended.
        resolve(Promise.resolve().then(() => this.#call(call, place)));
      });
      const waiting: WaitingCall = {
        quit: (reason) => {
          quit();
          this.#stopReclaiming();
          reject(reason);
        },
        left: contexts.length,
      };
      for (const context of contexts) this.#waiting.set(context, waiting);
      if (this.#semaphore.waiting === 1) this.#reclaimNext();
    });
  }

  #leave(place: Place): void {
    if (this.#places.delete(place)) this.#semaphore.leave();
  }

  /** While calls wait: takes a place back then. */
  #reclaimInTime(until: number): void {
    if (this.#semaphore.waiting === 0 || until >= (this.#reclaim?.at ?? Infinity)) return;
    this.#reclaim?.timer.cancel();
    const delay = Math.max(0, until - this.#clock.monotonic());
    this.#reclaim = { timer: this.#clock.setTimeout(() => this.#reclaimDue(), delay), at: until };
  }

  #reclaimDue(): void {
    this.#reclaim = undefined;
    const now = this.#clock.monotonic();
    for (const place of [...this.#places]) if (place.until <= now) this.#leave(place);
    this.#reclaimNext();
  }

  #reclaimNext(): void {
    for (const { until } of this.#places) this.#reclaimInTime(until);
  }

  #stopReclaiming(): void {
    if (this.#semaphore.waiting > 0) return;
    this.#reclaim?.timer.cancel();
    this.#reclaim = undefined;
  }
}
