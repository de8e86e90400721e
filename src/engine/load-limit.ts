import type { Clock, Timer } from '../time/clock.ts';
import { isThenable } from '../time/deferred.ts';
import { Semaphore } from '../time/semaphore.ts';
import type { LoadContext } from './load-context.ts';

/** A call that waits for a place, or has one: of one entry, or of a batch. */
interface Call {
  /** The member whose load it is. */
  readonly member: string;
  /** When its place is taken back (monotonic). `Infinity`: when its executions are over. */
  readonly until: number;
  /** Of its executions that are not over; known while it waits, and where no deadline takes its place back. */
  contexts: Set<LoadContext>;
  /** When it took a place that no deadline takes back (monotonic). */
  since: number;
  /** Ends its wait; `undefined`: it does not wait. */
  quit: ((reason: Error) => void) | undefined;
}

/** A place that no deadline takes back. */
export type EndlessPlace = Readonly<Pick<Call, 'contexts' | 'since'>>;

/** Executions with the same deadline time out first, or those in line would begin at their own deadline. */
const RECLAIM_AFTER_MS = 1;

/** One for all: nothing is added to it. */
const NONE: Set<LoadContext> = /* @__PURE__ */ new Set();

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
  /** Those that have places. */
  readonly #places: Set<Call> = new Set();
  /** Those that wait, or have places that no deadline takes back, by the contexts of their executions. */
  readonly #calls: Map<LoadContext, Call> = new Map();
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
    if (this.#calls.get(context)?.quit !== undefined)
      return `waiting for one of ${this.max} places (concurrency)`;
    return this.#outer?.waitedFor(context);
  }

  /** The most calls of one member that may be under way. */
  get narrowest(): number {
    return Math.min(this.max, this.#outer?.narrowest ?? Infinity);
  }

  /** The calls of a member under way whose places no deadline takes back, in the order in which they began. */
  endless(member: string): readonly EndlessPlace[] {
    if (this.#outer !== undefined) return this.#outer.endless(member);
    return [...this.#places].filter((call) => call.until === Infinity && call.member === member);
  }

  /** The load with this context is over. A call rejects with the reason if none of its loads waits any longer. */
  giveUp(context: LoadContext, reason: Error): void {
    const call = this.#calls.get(context);
    if (call?.quit === undefined) this.#outer?.giveUp(context, reason);
    if (call === undefined) return;
    this.#calls.delete(context);
    call.contexts.delete(context);
    if (call.contexts.size > 0) return;
    if (call.quit === undefined) this.#leave(call);
    else call.quit(reason);
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
    const place: Call = {
      member,
      until: until + RECLAIM_AFTER_MS,
      contexts: NONE,
      since: 0,
      quit: undefined,
    };
    const isFree = this.#semaphore.tryEnter();
    if (!isFree || until === Infinity) place.contexts = new Set(contexts());
    return isFree ? this.#call(next, place) : this.#wait(next, place);
  }

  #call<R>(call: () => R | PromiseLike<R>, place: Call): R | PromiseLike<R> {
    this.#places.add(place);
    if (place.until === Infinity) {
      place.since = this.#clock.monotonic();
      for (const context of place.contexts) this.#calls.set(context, place);
    }
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

  #leaveAfter<R>(promise: Promise<R>, place: Call): Promise<R> {
    const leave = (): void => this.#leave(place);
    promise.then(leave, leave);
    return promise;
  }

  #wait<R>(call: () => R | PromiseLike<R>, place: Call): Promise<R> {
    return new Promise((resolve, reject) => {
      let isQuit = false;
      const begin = (): R | PromiseLike<R> => {
        if (isQuit) {
          this.#semaphore.leave(); // since its turn came
          return undefined as R;
        }
        for (const context of place.contexts) this.#calls.delete(context);
        place.quit = undefined;
        return this.#call(call, place);
      };
      const quit = this.#semaphore.queue(() => {
        this.#stopReclaiming();
        // Not on the stack of the call that has just ended.
        void Promise.resolve().then(begin).then(resolve, reject);
      });
      place.quit = (reason) => {
        isQuit = true;
        quit();
        this.#stopReclaiming();
        reject(reason);
      };
      for (const context of place.contexts) this.#calls.set(context, place);
      if (this.#semaphore.waiting === 1) this.#reclaimNext();
    });
  }

  #leave(place: Call): void {
    for (const context of place.contexts) this.#calls.delete(context);
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
