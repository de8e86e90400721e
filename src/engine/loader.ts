import type { Cluster } from '../cluster/cluster.ts';
import { Round } from '../cluster/round.ts';
import {
  isLeaseLostError,
  isLockUnavailableError,
  LoadError,
  LoadTimeoutError,
  type TicklessError,
} from '../errors.ts';
import type { Events, LoadDetails, LoadEndDetails } from '../observe/events.ts';
import { messageOf } from '../observe/logger.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import { inDetachedContext } from './detached-context.ts';
import { Adopted, type FlightAnswer, StandBy } from './elsewhere.ts';
import { type Entry, keyOf, sharedOf, takeWaiters } from './entry.ts';
import { type EntryOwner, nobody } from './entry-owner.ts';
import { Flight, type Outcome } from './flight.ts';
import { Intake } from './intake.ts';
import type { LoadContext, Trigger } from './load-context.ts';
import { LoadReporter } from './load-reporter.ts';
import { type KeyedAnswer, type LoadResult, readLoadResult } from './load-result.ts';
import { absence, closedError } from './read-errors.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Timing } from './timing.ts';
import type { LoadHandle, Waiters } from './waiters.ts';

/** What is loaded or executed; the same for a value, a key or a task. */
export type Load<T> = (context: LoadContext, entry: Entry<T>) => KeyedAnswer<T> | PromiseLike<KeyedAnswer<T>>;

/** After `close()` has aborted loads, so long at most are they awaited for their leases to be given back. */
const RELEASE_GRACE_MS = 1000;

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
  keeper: EntryOwner<T> = nobody;
  readonly teller: LoadReporter;
  readonly #policy: ResolvedOptions;
  readonly #events: Events;
  readonly #timing: Timing;
  readonly #load: Load<T>;
  readonly #intake: Intake<T>;
  readonly #cluster: Cluster | undefined;
  /** The entries with a flight under way. */
  readonly #busy: Set<Entry<T>> = new Set();
  /** What goes on in the cluster: also after a flight has landed, while its lease is given back. */
  readonly #rounds: Set<Round<T>> = new Set();
  #onIdle: (() => void) | undefined;
  #isDraining = false;
  /** The last load returned without a promise. */
  #isSynchronous = false;

  constructor(
    policy: ResolvedOptions,
    events: Events,
    timing: Timing,
    load: Load<T>,
    cluster: Cluster | undefined,
  ) {
    this.#policy = policy;
    this.#cluster = cluster;
    this.#events = events;
    this.teller = new LoadReporter(policy, events);
    this.#timing = timing;
    this.#load = load;
    this.#intake = new Intake(policy, timing);
  }

  /**
   * Starts a load, unless one is under way. A synchronous one has landed when this returns, unless it is `behind`.
   *
   * @param when `now`: the first try on the caller's stack. `behind`: after the caller, who has been served.
   */
  start(entry: Entry<T>, { trigger, background }: Omit<LoadDetails, 'key'>, when: 'now' | 'behind'): void {
    const underWay = entry.flight;
    if (underWay !== undefined) {
      if (when === 'now' && !underWay.hasBegun) inDetachedContext(() => underWay.depart());
      if (trigger === 'forced') entry.shared?.round?.urge();
      return;
    }
    const start = { trigger, background, ...keyOf(entry) };
    const { clock, random, retry, timeoutMs, name } = this.#policy;
    const cluster = this.#cluster;
    let startedAt = clock.monotonic();
    let round: Round<T> | undefined;
    const attempt = (attempt: number, signal: AbortSignal): ReturnType<Load<T>> => {
      if (round !== undefined && attempt === 1) {
        startedAt = clock.monotonic();
        this.#events.emit('load-started', start);
        signal.throwIfAborted(); // a listener may have superseded it
      }
      const previous = previousOf(entry);
      const token = round?.token;
      const context = { trigger, background, signal, attempt, previous };
      return this.#load(token === undefined ? context : { ...context, token }, entry);
    };
    const flight: Flight<FlightAnswer<T>> = new Flight<FlightAnswer<T>>({
      clock,
      random,
      retry,
      timeoutMs,
      attempt,
      around:
        cluster &&
        ((tries, around) => {
          round = this.#round(cluster, entry, start, (error) => flight.fail(error));
          return round.run(tries, around);
        }),
      restAfter: (error) => retryAfterMs(error, clock.now()),
      timeoutReason: (attempts, cause) => {
        const details = { cacheName: name, key: entry.key, attempts, timeout: timeoutMs, cause };
        return new LoadTimeoutError(`load timed out after ${timeoutMs} ms`, details);
      },
      land: (outcome) => this.#land(entry, flight, { ...start, startedAt, round }, outcome),
      late: () => this.#events.emit('late-result-dropped', start),
    });
    entry.flight = flight;
    this.#busy.add(entry);
    entry.waiters?.follow(flight);
    inDetachedContext(() => {
      if (cluster === undefined) this.#events.emit('load-started', start);
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
    // Not told to the keeper before the value is in place: a group would start the next load.
    this.abort(entry, new DOMException('superseded by set()', 'AbortError'));
    const waiters = takeWaiters(entry);
    prepare();
    if (this.#cluster !== undefined) sharedOf(entry).isLocal = true;
    const answer = { outcome: 'set', value, said: {} } as const;
    this.teller.brokenSchedule(entry, this.#intake.accept(entry, answer, this.#policy.clock.monotonic()));
    waiters?.resolve(value);
    this.keeper.changed(entry);
  }

  /**
   * Aborts the flight under way, if there is one. What it brings is dropped; who waits goes on waiting. It is the caller
   * who tells the keeper, once the entry is as it is to be.
   */
  abort(entry: Entry<T>, reason: Error): void {
    const { flight } = entry;
    if (flight === undefined) return;
    entry.waiters?.follow(undefined);
    this.#leave(entry, flight);
    flight.end(reason);
  }

  /**
   * A successor for a load that was superseded while readers wait for it. Not on this stack: a load that invalidates its
   * own value would call itself, and a burst of invalidations would start a load each. Not in a microtask either: such
   * a load would keep all else from running.
   */
  succeed(entry: Entry<T>, trigger: Trigger = 'invalidated'): void {
    if (!entry.waiters?.hasReaders) {
      takeWaiters(entry)?.resolve(entry.value as T); // only those who wait for the end, which this is
      return;
    }
    const start = (): void => {
      const haveLeft = !entry.waiters?.hasReaders;
      if (this.#isDraining) takeWaiters(entry)?.reject(closedError(this.#policy.name, entry.key));
      else if (haveLeft) takeWaiters(entry)?.resolve(entry.value as T);
      else this.start(entry, { trigger, background: false }, 'now');
      this.keeper.changed(entry);
    };
    this.#policy.clock.setTimeout(start, 0).ref();
  }

  /** Waits until nothing is under way, at most `timeoutMs`; then aborts what is, and rejects who waits for it. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    if (timeoutMs > 0) {
      for (const { flight } of this.#busy) flight?.hold();
      await this.#idle(timeoutMs);
    }
    for (const entry of [...this.#busy]) {
      const error = closedError(this.#policy.name, entry.key, 'was closed before its load had ended');
      this.abort(entry, error);
      takeWaiters(entry)?.reject(error);
      this.keeper.changed(entry);
    }
    // Leases are given back when the aborted loads have settled, or left to expire.
    await this.#idle(RELEASE_GRACE_MS);
  }

  /** Resolves when nothing is under way, or after so many milliseconds. */
  async #idle(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => {
      const { clock } = this.#policy;
      const timer = timeoutMs === Infinity ? undefined : clock.setTimeout(resolve, timeoutMs);
      timer?.ref();
      this.#onIdle = () => {
        timer?.cancel();
        resolve();
      };
    });
    this.#onIdle = undefined;
  }

  get #isIdle(): boolean {
    return this.#busy.size === 0 && this.#rounds.size === 0;
  }

  #round(
    cluster: Cluster,
    entry: Entry<T>,
    { trigger, background }: LoadDetails,
    fail: (error: Error) => void,
  ): Round<T> {
    const round: Round<T> = new Round(cluster, entry, {
      trigger,
      background,
      validSince: () => this.keeper.validSince,
      began: () => this.keeper.began(entry),
      fail,
      over: () => {
        this.#rounds.delete(round);
        this.keeper.changed(entry);
        if (this.#isIdle) this.#onIdle?.();
      },
    });
    this.#rounds.add(round);
    return round;
  }

  #land(entry: Entry<T>, flight: LoadHandle, start: LoadStart<T>, outcome: Outcome<FlightAnswer<T>>): void {
    this.keeper.hold(entry);
    try {
      this.#leave(entry, flight);
      this.#apply(entry, start, outcome);
    } finally {
      this.keeper.release(entry);
    }
  }

  #apply(
    entry: Entry<T>,
    { startedAt, round, ...start }: LoadStart<T>,
    outcome: Outcome<FlightAnswer<T>>,
  ): void {
    const waiters = takeWaiters(entry);
    const { attempts } = outcome;
    const took = this.#policy.clock.monotonic() - startedAt;
    const end = { ...start, attempts, duration: took };
    if (outcome.kind === 'timed-out') {
      this.#fail(entry, waiters, 'load-timed-out', end, outcome.error, round?.over);
      return;
    }
    if (outcome.kind === 'answered' && outcome.answer instanceof StandBy) {
      const { forMs, isUnlessAwaited } = outcome.answer;
      this.#timing.stoodBy(entry, forMs);
      // They came at the last moment, when it was decided already.
      const waitsOn = (isUnlessAwaited || round?.isUrged) && !this.#isDraining && waiters?.hasReaders;
      if (waitsOn) {
        entry.waiters = waiters;
        this.succeed(entry, round?.isUrged ? 'forced' : 'due');
      } else waiters?.resolve(entry.value as T);
      return;
    }
    let answer: LoadResult<T> | 'absent';
    let adopted: Adopted<T>['what'] | undefined;
    try {
      if (outcome.kind === 'failed') throw outcome.error;
      if (outcome.answer instanceof Adopted) adopted = outcome.answer.what;
      answer =
        adopted === undefined
          ? readLoadResult(outcome.answer as KeyedAnswer<T>, entry, this.#policy)
          : answerOf(adopted);
      if (answer !== 'absent') this.keeper.admit(entry, answer);
      this.#isSynchronous = outcome.isSynchronous;
    } catch (cause) {
      const error = this.#errorOf(cause, entry.key, attempts);
      this.#fail(entry, waiters, 'load-failed', end, error, round?.giveUp(error));
      return;
    }
    const coolingDown =
      adopted === undefined
        ? this.#intake.accept(entry, answer, startedAt)
        : this.#intake.adopt(entry, adopted);
    const isOutdated = this.keeper.isOutdated(entry, answer);
    if (isOutdated) this.#timing.invalidated(entry);
    const settled =
      adopted === undefined ? round?.conclude({ isAbsent: answer === 'absent', took }) : undefined;
    // They asked after it was invalidated, maybe; only a load that begins from now on can answer them.
    const waitsOn = isOutdated && !this.#isDraining && waiters?.hasReaders === true;
    if (waitsOn) {
      entry.waiters = waiters;
      this.succeed(entry);
    }
    if (adopted === undefined) this.teller.succeeded(entry, answer, end);
    else this.teller.adopted(entry, adopted);
    this.teller.brokenSchedule(entry, coolingDown);
    if (waitsOn) return;
    if (answer !== 'absent') waiters?.resolve(answer.value, settled);
    else waiters?.reject(absence(entry, this.#policy.name, this.#policy.clock.monotonic()), settled);
  }

  /** Errors of the cluster say themselves what they are; anything else is an error of the load. */
  #errorOf(cause: unknown, key: unknown, attempts: number): TicklessError {
    if (isLeaseLostError(cause) || isLockUnavailableError(cause)) return cause;
    const details = { cacheName: this.#policy.name, key, attempts, cause };
    return new LoadError(`load failed: ${messageOf(cause)}`, details);
  }

  #fail(
    entry: Entry<T>,
    waiters: Waiters<T> | undefined,
    type: 'load-failed' | 'load-timed-out',
    end: LoadEndDetails,
    error: TicklessError,
    settled: Promise<void> | undefined,
  ): void {
    const coolingDown = this.#timing.failed(entry, error);
    const isHeard = !end.background && waiters?.hasReaders === true;
    this.teller.failed(entry, type, end, coolingDown, isHeard);
    waiters?.reject(error, settled);
  }

  /** By identity: a flight that has left can't take its successor along. */
  #leave(entry: Entry<T>, flight: LoadHandle): void {
    if (entry.flight !== flight) return;
    entry.flight = undefined;
    this.#busy.delete(entry);
    if (this.#isIdle) this.#onIdle?.();
  }
}

/** What is known of a load when it lands. */
interface LoadStart<T> extends LoadDetails {
  /** Monotonic; of a load behind a lock: when it had the lease. */
  readonly startedAt: number;
  readonly round: Round<T> | undefined;
}

function answerOf<T>({
  isAbsent,
  value,
  tags,
  maxStalenessMs,
}: Adopted<T>['what']): LoadResult<T> | 'absent' {
  return isAbsent ? 'absent' : { outcome: 'loaded', value, said: { tags, maxStalenessMs } };
}

function previousOf(entry: Entry<unknown>): LoadContext['previous'] {
  return entry.last === undefined ? undefined : { value: entry.value, loadedAt: entry.last.endedAt };
}
