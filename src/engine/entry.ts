import type { Timer } from '../time/clock.ts';
import type { ClusterStateLike } from './cluster-state-like.ts';
import type { LoadHandle } from './load-handle.ts';
import type { LastExecution } from './next-execution.ts';
import type { ForcedLoad, Refused } from './refused.ts';
import { Waiters } from './waiters.ts';

/**
 * All that is remembered of one value, key or task between its executions. `decide.ts` decides what a read of it does,
 * `loader.ts` and `timing.ts` change it.
 *
 * Each field has one writer, the file that is named at it; the methods here write those that depend on each other: the
 * value with its promise, the due time with `freshUntil`. The slot columns of a cache make an entry again of what it was
 * (`field-writers.test.ts` reads the source).
 *
 * Instants are on the monotonic clock, but for `nextExecuteTime`, `scheduledFor` and those inside `last`, which are on
 * the wall clock; `clockOffset` ties the two together.
 */
export class Entry<T> {
  /** The key; `undefined` for the one entry of a value or task. */
  readonly key: unknown;
  /** The identity of the key: the key itself, or the result of `keyOf`. */
  readonly id: unknown;

  /** A read before this instant is fresh and checks nothing else: the lesser of `dueAt` and `checkClocksAt`. @writer entry.ts */
  freshUntil: number = -Infinity;
  /** From this instant on a read starts a load. @writer entry.ts */
  dueAt: number = -Infinity;
  /** From this instant on a read compares both clocks. @writer entry.ts */
  checkClocksAt: number = -Infinity;

  /** @writer entry.ts */
  isLoaded: boolean = false;
  /** @writer entry.ts */
  value: T | undefined = undefined;
  /** Resolved with `value`; the same object for every read while the value lives. @writer entry.ts */
  promise: Promise<T> | undefined = undefined;
  /** The value is that of the option `initial`: no load has succeeded yet. @writer entry.ts */
  isInitial: boolean = false;
  /** When the load of the value ended, or the load that found the key absent. @writer timing.ts */
  loadedAt: number = -Infinity;
  /** @writer timing.ts */
  maxStalenessMs: number;
  /** The age limit that the load returned with this value, if any. @writer timing.ts */
  maxStalenessOverrideMs: number | undefined = undefined;
  /** @writer timing.ts */
  isInvalidated: boolean = false;
  /** The last value that was refused, until a load succeeds. @writer guarded-load.ts */
  refused: Refused | undefined = undefined;
  /** The refused value that the next load lets pass. @writer member-engine.ts */
  forced: ForcedLoad | undefined = undefined;
  /** The tags that the load returned with this value. @writer keyed-entry.ts */
  tags: readonly string[] | undefined = undefined;

  /** Failures in a row. @writer entry.ts */
  failures: number = 0;
  /** When the first of them ended (monotonic); `undefined`: none did. @writer entry.ts */
  failingSince: number | undefined = undefined;
  /** @writer timing.ts */
  lastError: Error | undefined = undefined;
  /** Reads start no load before this instant. @writer timing.ts */
  coolDownUntil: number = -Infinity;
  /**
   * Another instance is executing, or a person has pinned the value: before this instant only a caller that waits for the
   * result starts a load.
   * @writer timing.ts
   */
  deferredUntil: number = -Infinity;

  /** The load under way. Set before it starts, cleared before any caller learns that it has ended. @writer loader.ts */
  flight: LoadHandle | undefined = undefined;
  /** All that the load under way answers, or the next one where there is none; taken out before they are settled. @writer loader.ts */
  waiters: Waiters<T> | undefined = undefined;
  /** Those that came after the load under way was superseded: its successor answers them. @writer loader.ts */
  nextWaiters: Waiters<T> | undefined = undefined;
  /** Starts the next load, in a turn of its own. @writer loader.ts */
  successor: Timer | undefined = undefined;
  /** Deadline (monotonic) of the next load, when it has inherited waiters of a load without a result. @writer loader.ts */
  inheritedDeadline: number = Infinity;
  /** The part of the entry that the coordinator remembers; `undefined` without a lock and a store. @writer cluster-state.ts */
  cluster: ClusterStateLike | undefined = undefined;

  /** The last successful execution, as the schedule saw it. @writer timing.ts */
  last: LastExecution | undefined = undefined;
  /** When to execute next, epoch milliseconds. @writer timing.ts */
  nextExecuteTime: number = -Infinity;
  /** The schedule's own last result, also where the load or a cool-down decided. @writer timing.ts */
  scheduledFor: number | undefined = undefined;
  /** `nextExecuteTime` comes from the schedule, which is asked again when the wall clock was stepped. @writer timing.ts */
  isScheduled: boolean = false;
  /** Wall clock minus monotonic clock when the instants above were taken. @writer timing.ts */
  clockOffset: number = 0;

  constructor(key?: unknown, id: unknown = key, maxStalenessMs: number = Infinity) {
    this.maxStalenessMs = maxStalenessMs;
    this.key = key;
    this.id = id;
  }

  putValue(value: T, isInitial: boolean = false): void {
    this.value = value;
    this.promise = Promise.resolve(value);
    this.isLoaded = true;
    this.isInitial = isInitial;
  }

  /** The source still has the value that is in place. */
  keepValue(): void {
    this.isInitial = false;
  }

  /** A load has succeeded, or a value was set. */
  endRefusal(): void {
    this.refused = undefined;
  }

  /** Forgets the value, and all that its load returned with it. */
  forgetValue(): void {
    this.isLoaded = this.isInitial = false;
    this.value = this.promise = this.last = undefined;
    this.scheduledFor = this.maxStalenessOverrideMs = undefined;
  }

  /** @param now the monotonic clock. */
  setDue(dueAt: number, now: number, checkClocksAt: number = this.checkClocksAt): void {
    this.dueAt = dueAt;
    this.checkClocksAt = checkClocksAt;
    const until = Math.min(dueAt, checkClocksAt);
    // A read may use an instant shortly before `now`: an entry that is due now must not be fresh to it.
    this.freshUntil = until > now ? until : -Infinity;
  }

  /** A read is to start a load at once. */
  setDueNow(): void {
    this.dueAt = this.freshUntil = -Infinity;
  }

  /** @param now the monotonic clock. */
  addFailure(error: Error, now: number): void {
    this.failures += 1;
    this.failingSince ??= now;
    this.lastError = error;
  }

  clearFailures(): void {
    this.failures = 0;
    this.failingSince = this.lastError = undefined;
  }
}

/** The key as events show it, where there is one. */
export function keyOf({ key }: Entry<unknown>): { readonly key?: unknown } {
  return key === undefined ? {} : { key };
}

/** When the load under way times out (monotonic). `Infinity`: never. */
export function deadlineOf({ flight }: Pick<Entry<unknown>, 'flight'>): number {
  return flight?.deadlineAt ?? Infinity;
}

/** Those that wait for the load under way, or for the next one where there is none. */
export function waitersOf<T>(entry: Entry<T>): Waiters<T> {
  entry.waiters ??= new Waiters(entry.flight);
  return entry.waiters;
}

/** Takes them out: later callers wait for the next value. */
export function takeWaiters<T>(entry: Entry<T>): Waiters<T> | undefined {
  const { waiters } = entry;
  if (waiters === undefined) return undefined;
  entry.waiters = undefined;
  waiters.follow(undefined);
  return waiters;
}

/** The opposite of {@link takeWaiters}: they wait for the next load. */
export function putBackWaiters<T>(entry: Entry<T>, waiters: Waiters<T>): void {
  if (entry.waiters === undefined) entry.waiters = waiters;
  else entry.waiters.absorb(waiters);
}
