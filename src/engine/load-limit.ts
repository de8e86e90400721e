import type { Clock, Timer } from '../time/clock.ts';
import { isThenable } from '../time/deferred.ts';
import { Semaphore } from '../time/semaphore.ts';
import type { LoadContext } from './load-context.ts';

/** A place that a call has taken. */
interface Place {
  /** When it is taken back (monotonic). `Infinity`: when its executions are over. */
  readonly until: number;
  readonly endless: EndlessPlace | undefined;
}

/** A place that no deadline takes back. */
export interface EndlessPlace {
  /** The member whose load has it. */
  readonly member: string;
  /** Of its executions that are not over. */
  readonly contexts: Set<LoadContext>;
  /** When it was taken (monotonic). */
  readonly since: number;
}

/** A call that waits for a place: of one entry, or of a batch. */
interface WaitingCall {
  readonly quit: (reason: Error) => void;
  /** Of its entries that still wait. */
  readonly contexts: Set<LoadContext>;
}

/** Executions with the same deadline time out first, or those in line would begin at their own deadline. */
const RECLAIM_AFTER_MS = 1;

const NONE: readonly LoadContext[] = [];

/** The call, within another limit. Apart, as a function with a closure costs memory in each call, also where it makes none. */
function within<R>(limit: LoadLimit, ...args: Parameters<typeof limit.run<R>>): () => R | PromiseLike<R> {
  return () => limit.run(...args);
}

/**
 * Limits how many calls of loads are under way at a time: those of one cache, or of all members of a group.
 *
 * A call keeps its place until it settles, at most until the deadline of its execution: a load that ignores its signal still
 * counts, and one that never settles blocks no other. A call without a deadline keeps its place until it settles or its execution
 * is ended, by `cancel()` for example. Calls without a place wait in the order in which they came. Between loads there is no
 * timer: a timer takes places back only while a call waits.
 */
export class LoadLimit {
  readonly max: number;
  readonly #semaphore: Semaphore;
  readonly #clock: Clock;
  readonly #outer: LoadLimit | undefined;
  readonly #places: Set<Place> = new Set();
  /** The places that no deadline takes back, by the contexts of their executions. */
  readonly #endless: Map<LoadContext, Place> = new Map();
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
    if (this.#waiting.has(context)) return `waiting for one of ${this.max} places (concurrency)`;
    return this.#outer?.waitedFor(context);
  }

  /** The most calls of one member that may be under way. */
  get narrowest(): number {
    return Math.min(this.max, this.#outer?.narrowest ?? Infinity);
  }

  /** The calls of a member under way whose places no deadline takes back, in the order in which they began. */
  endless(member: string): readonly EndlessPlace[] {
    if (this.#outer !== undefined) return this.#outer.endless(member);
    return [...this.#places].flatMap(({ endless }) => (endless?.member === member ? [endless] : []));
  }

  /** The load with this context is over. A call rejects with the reason if none of its loads waits any longer. */
  giveUp(context: LoadContext, reason: Error): void {
    const call = this.#waiting.get(context);
    if (call === undefined) {
      this.#outer?.giveUp(context, reason);
      const place = this.#endless.get(context);
      place?.endless?.contexts.delete(context);
      if (place?.endless?.contexts.size === 0) this.#leave(place);
      this.#endless.delete(context);
      return;
    }
    this.#waiting.delete(context);
    call.contexts.delete(context);
    if (call.contexts.size === 0) call.quit(reason);
  }

  /**
   * Calls a load: at once and on this stack if a place is free, else when its turn comes. Returns and throws as it does.
   *
   * @param until how long it may wait and keep its place: the deadline of its execution (monotonic).
   * @param contexts returns the contexts of its entries; called only if it has to wait, and without a deadline.
   * @param member its name.
   */
  run<R>(
    call: () => R | PromiseLike<R>,
    until: number,
    contexts: () => readonly LoadContext[],
    member: string,
  ): R | PromiseLike<R> {
    const next = this.#outer === undefined ? call : within(this.#outer, call, until, contexts, member);
    if (this.#semaphore.tryEnter()) return this.#call(next, this.#placeOf(until, contexts, member));
    return this.#queue(next, until, contexts, member);
  }

  #queue<R>(
    next: () => R | PromiseLike<R>,
    until: number,
    contexts: () => readonly LoadContext[],
    member: string,
  ): Promise<R> {
    const waiting = new Set(contexts());
    const still = (): Set<LoadContext> => waiting;
    return this.#wait(() => this.#call(next, this.#placeOf(until, still, member)), waiting);
  }

  #placeOf(until: number, contexts: () => Iterable<LoadContext>, member: string): Place {
    if (until < Infinity) return { until: until + RECLAIM_AFTER_MS, endless: undefined };
    return { until, endless: { member, contexts: new Set(contexts()), since: this.#clock.monotonic() } };
  }

  #call<R>(call: () => R | PromiseLike<R>, place: Place): R | PromiseLike<R> {
    this.#places.add(place);
    for (const context of place.endless?.contexts ?? NONE) this.#endless.set(context, place);
    this.#reclaimInTime(place.until);
    try {
      const result = call();
      if (isThenable(result)) return this.#leaveAfter(Promise.resolve(result), place);
      this.#leave(place);
      return result;
    } catch (error) {
      this.#leave(place);
      throw error;
    }
  }

  #leaveAfter<R>(promise: Promise<R>, place: Place): Promise<R> {
    const leave = (): void => this.#leave(place);
    promise.then(leave, leave);
    return promise;
  }

  #wait<R>(enter: () => R | PromiseLike<R>, contexts: Set<LoadContext>): Promise<R> {
    return new Promise((resolve, reject) => {
      let isQuit = false;
      const begin = (): R | PromiseLike<R> => {
        if (isQuit)
          this.#semaphore.leave(); // since its turn came
        else for (const context of contexts) this.#waiting.delete(context);
        return isQuit ? (undefined as R) : enter();
      };
      const quit = this.#semaphore.queue(() => {
        this.#stopReclaiming();
        // Not on the stack of the call that has just ended.
        void Promise.resolve().then(begin).then(resolve, reject);
      });
      const waiting: WaitingCall = {
        contexts,
        quit: (reason) => {
          isQuit = true;
          quit();
          this.#stopReclaiming();
          reject(reason);
        },
      };
      for (const context of contexts) this.#waiting.set(context, waiting);
      if (this.#semaphore.waiting === 1) this.#reclaimNext();
    });
  }

  #leave(place: Place): void {
    for (const context of place.endless?.contexts ?? NONE) this.#endless.delete(context);
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
