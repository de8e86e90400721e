import { inCleanContext } from '../clean-context.ts';
import { LoadError, LoadTimeoutError } from '../errors.ts';
import type { Events, LoadDetails, LoadEndDetails } from '../observe/events.ts';
import { messageOf } from '../observe/logger.ts';
import type { Policy } from '../policy.ts';
import { type KeyedAnswer, type ReadAnswer, readAnswer } from './answer.ts';
import { type Entry, forget, keyOf, takeWaiters } from './entry.ts';
import { Flight, type Outcome } from './flight.ts';
import { type Keeper, nobody } from './keeper.ts';
import type { LoadContext } from './load-context.ts';
import { absence, closedError } from './refusal.ts';
import { retryAfterMs } from './retry-after.ts';
import { Teller } from './teller.ts';
import type { CoolingDown, Timetable } from './timetable.ts';
import type { UnderWay, Waiters } from './waiters.ts';

/** What is loaded or executed; the same for a value, a key or a task. */
export type Load<T> = (context: LoadContext, entry: Entry<T>) => KeyedAnswer<T> | PromiseLike<KeyedAnswer<T>>;

/**
 * Starts flights for entries and applies what they bring.
 *
 * Two callers and one due entry:
 *
 *  1. caller A finds no flight; one is put into the entry before anything of the load runs;
 *  2. caller B, whenever it comes, finds that flight, and is served or waits for the same one;
 *  3. the flight lands: it leaves the entry first, with all who wait for it; then its outcome is applied, then events
 *     are emitted, then the waiters learn of it. A listener or waiter that reads at once finds the new state, and who
 *     asks for a load from within an event gets one of his own;
 *  4. had `invalidate`, `set` or the deadline ended the flight before, it would have left the entry already, and
 *     what it brings counts as late.
 */
export class Launcher<T> {
  keeper: Keeper<T> = nobody;
  readonly teller: Teller;
  readonly #policy: Policy;
  readonly #events: Events;
  readonly #timetable: Timetable;
  readonly #load: Load<T>;
  /** The entries with a flight under way. */
  readonly #busy: Set<Entry<T>> = new Set();
  #onIdle: (() => void) | undefined;
  #isDraining = false;
  /** The last load returned without a promise. */
  #isSynchronous = false;

  constructor(policy: Policy, events: Events, timetable: Timetable, load: Load<T>) {
    this.#policy = policy;
    this.#events = events;
    this.teller = new Teller(policy, events);
    this.#timetable = timetable;
    this.#load = load;
  }

  /**
   * Starts a load, unless one is under way. A synchronous one has landed when this returns, unless it is `behind`.
   *
   * @param when `now`: the first try on the caller's stack. `behind`: after the caller, who has been served.
   */
  start(entry: Entry<T>, { trigger, background }: Omit<LoadDetails, 'key'>, when: 'now' | 'behind'): void {
    const underWay = entry.flight;
    if (underWay !== undefined) {
      if (when === 'now') inCleanContext(() => underWay.depart());
      return;
    }
    const start = { trigger, background, ...keyOf(entry) };
    const { clock, random, retry, timeoutMs, name } = this.#policy;
    const startedAt = clock.monotonic();
    const flight: Flight<KeyedAnswer<T>> = new Flight({
      clock,
      random,
      retry,
      timeoutMs,
      attempt: (attempt, signal) => {
        const previous = previousOf(entry);
        return this.#load({ trigger, background, signal, attempt, previous }, entry);
      },
      restAfter: (error) => retryAfterMs(error, clock.now()),
      timeoutReason: (attempts, cause) => {
        const details = { cacheName: name, key: entry.key, attempts, timeout: timeoutMs, cause };
        return new LoadTimeoutError(`load timed out after ${timeoutMs} ms`, details);
      },
      land: (outcome) => this.#land(entry, flight, start, startedAt, outcome),
      late: () => this.#events.emit('late-result-dropped', start),
    });
    entry.flight = flight;
    this.#busy.add(entry);
    entry.waiters?.follow(flight);
    inCleanContext(() => {
      this.#events.emit('load-started', start);
      if (when === 'now') flight.depart();
      else flight.departBehind(this.#isSynchronous ? 'macrotask' : 'microtask');
    });
    if (entry.flight === flight) this.keeper.changed(entry);
  }

  /**
   * Puts a value in by hand: a flight under way is aborted, and who waits for it gets this value.
   *
   * @param prepare called right before the value is in place.
   */
  put(entry: Entry<T>, value: T, prepare: () => void): void {
    this.abort(entry, new DOMException('superseded by set()', 'AbortError'));
    const waiters = takeWaiters(entry);
    prepare();
    const answer = { outcome: 'set', value, said: {} } as const;
    this.teller.brokenSchedule(entry, this.#accept(entry, answer, this.#policy.clock.monotonic()));
    waiters?.resolve(value);
    this.keeper.changed(entry);
  }

  /** Aborts the flight under way, if there is one. What it brings is dropped; who waits goes on waiting. */
  abort(entry: Entry<T>, reason: Error): void {
    const { flight } = entry;
    if (flight === undefined) return;
    entry.waiters?.follow(undefined);
    this.#leave(entry, flight);
    flight.end(reason);
    this.keeper.changed(entry);
  }

  /**
   * A successor for a load that was superseded while readers wait for it. Not on this stack: a load that invalidates its
   * own value would call itself, and a burst of invalidations would start a load each. Not in a microtask either: such
   * a load would keep all else from running.
   */
  succeed(entry: Entry<T>): void {
    if (!entry.waiters?.hasReaders) {
      takeWaiters(entry)?.resolve(entry.value as T); // only those who wait for the end, which this is
      return;
    }
    const start = (): void => {
      const haveLeft = !entry.waiters?.hasReaders;
      if (this.#isDraining) takeWaiters(entry)?.reject(closedError(this.#policy.name, entry.key));
      else if (haveLeft) takeWaiters(entry)?.resolve(entry.value as T);
      else this.start(entry, { trigger: 'invalidated', background: false }, 'now');
      this.keeper.changed(entry);
    };
    this.#policy.clock.setTimeout(start, 0).ref();
  }

  /** Waits until nothing is under way, at most `timeoutMs`; then aborts what is, and rejects who waits for it. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    if (this.#busy.size > 0 && timeoutMs > 0) {
      for (const { flight } of this.#busy) flight?.hold();
      await new Promise<void>((resolve) => {
        const { clock } = this.#policy;
        const timer = timeoutMs === Infinity ? undefined : clock.setTimeout(resolve, timeoutMs);
        timer?.ref();
        this.#onIdle = () => {
          timer?.cancel();
          resolve();
        };
      });
    }
    for (const entry of [...this.#busy]) {
      const error = closedError(this.#policy.name, entry.key, 'was closed before its load had ended');
      this.abort(entry, error);
      takeWaiters(entry)?.reject(error);
      this.keeper.changed(entry);
    }
  }

  #land(
    entry: Entry<T>,
    flight: UnderWay,
    start: LoadDetails,
    startedAt: number,
    outcome: Outcome<KeyedAnswer<T>>,
  ): void {
    this.keeper.hold(entry);
    try {
      this.#leave(entry, flight);
      this.#apply(entry, start, startedAt, outcome);
    } finally {
      this.keeper.release(entry);
    }
  }

  #apply(entry: Entry<T>, start: LoadDetails, startedAt: number, outcome: Outcome<KeyedAnswer<T>>): void {
    const waiters = takeWaiters(entry);
    const { attempts } = outcome;
    const end = { ...start, attempts, duration: this.#policy.clock.monotonic() - startedAt };
    if (outcome.kind === 'timed-out') {
      this.#fail(entry, waiters, 'load-timed-out', end, outcome.error);
      return;
    }
    let answer: ReadAnswer<T> | 'absent';
    try {
      if (outcome.kind === 'failed') throw outcome.error;
      answer = readAnswer(outcome.answer, entry, this.#policy);
      if (answer !== 'absent') this.keeper.admit(entry, answer);
      this.#isSynchronous = outcome.isSynchronous;
    } catch (cause) {
      const details = { cacheName: this.#policy.name, key: entry.key, attempts, cause };
      const error = new LoadError(`load failed: ${messageOf(cause)}`, details);
      this.#fail(entry, waiters, 'load-failed', end, error);
      return;
    }
    const coolingDown = this.#accept(entry, answer, startedAt);
    const isOutdated = this.keeper.isOutdated(entry, answer);
    if (isOutdated) this.#timetable.invalidated(entry);
    // They asked after it was invalidated, maybe; only a load that begins from now on can answer them.
    const waitsOn = isOutdated && !this.#isDraining && waiters?.hasReaders === true;
    if (waitsOn) {
      entry.waiters = waiters;
      this.succeed(entry);
    }
    this.teller.succeeded(entry, answer, end);
    this.teller.brokenSchedule(entry, coolingDown);
    if (waitsOn) return;
    if (answer !== 'absent') waiters?.resolve(answer.value);
    else waiters?.reject(absence(entry, this.#policy.name, this.#policy.clock.monotonic()));
  }

  #accept(entry: Entry<T>, answer: ReadAnswer<T> | 'absent', startedAt: number): CoolingDown | undefined {
    if (answer === 'absent') {
      const { clock, name, absentForMs } = this.#policy;
      forget(entry);
      this.#timetable.absent(entry, absentForMs);
      entry.lastError = absence(entry, name, clock.monotonic());
      return undefined;
    }
    const { outcome, value, said } = answer;
    if (outcome !== 'kept') {
      entry.value = value;
      entry.promise = Promise.resolve(value);
      entry.isLoaded = true;
    }
    return this.#timetable.succeeded(entry, outcome, said, startedAt);
  }

  #fail(
    entry: Entry<T>,
    waiters: Waiters<T> | undefined,
    type: 'load-failed' | 'load-timed-out',
    end: LoadEndDetails,
    error: LoadError | LoadTimeoutError,
  ): void {
    const coolingDown = this.#timetable.failed(entry, error);
    const isHeard = !end.background && waiters?.hasReaders === true;
    this.teller.failed(entry, type, end, coolingDown, isHeard);
    waiters?.reject(error);
  }

  /** By identity: a flight that has left can't take its successor along. */
  #leave(entry: Entry<T>, flight: UnderWay): void {
    if (entry.flight !== flight) return;
    entry.flight = undefined;
    this.#busy.delete(entry);
    if (this.#busy.size === 0) this.#onIdle?.();
  }
}

function previousOf(entry: Entry<unknown>): LoadContext['previous'] {
  return entry.last === undefined ? undefined : { value: entry.value, loadedAt: entry.last.endedAt };
}
