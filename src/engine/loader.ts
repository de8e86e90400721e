import { type CloseReport, closeReport, cutOff } from '../data/close-report.ts';
import { checkStart, type ExecutionStart, executionRecord, type Trigger } from '../data/execution-record.ts';
import { TicklessError } from '../errors.ts';
import { Counters } from '../observe/counters.ts';
import { messageOf } from '../observe/logger.ts';
import { Events } from '../observe/member-events.ts';
import { passToPlatform, type WaitUntil } from '../observe/wait-until.ts';
import type { Execution } from '../schedule/schedule.ts';
import { rejected } from '../time/deferred.ts';
import { ActiveLoads } from './active-loads.ts';
import { Backups } from './backups.ts';
import { Changes } from './changes.ts';
import type { CoolingDown } from './cool-down.ts';
import type { Coordinator, RemoteResult } from './coordinator.ts';
import { type DecisionRules, decideNext, type RunState } from './decide.ts';
import { inDetachedContext } from './detached-context.ts';
import type { EngineOptions } from './engine-options.ts';
import { type Entry, putBackWaiters, takeWaiters, waitersOf } from './entry.ts';
import type { EntryOwner, KeyedOwner } from './entry-owner.ts';
import { Flight, type FlightEnd, type FlightHost, type Load } from './flight.ts';
import type { LoadHandle } from './load-handle.ts';
import { LoadReporter } from './load-reporter.ts';
import { isOnStack, ownLoadError } from './own-load.ts';
import { neverTriggers, type PiggybackTrigger } from './piggyback-trigger.ts';
import { closedError, coolingDownError, nextError, timeoutError } from './read-errors.ts';
import { RetryJitter } from './retry-jitter.ts';
import { executionEnd, type Settlement, Settler } from './settler.ts';
import { Timing } from './timing.ts';
import { Waiters, type WaitLimit } from './waiters.ts';

/** The rules for reads and requests. They change while the engine lives. */
export interface ReadRules extends DecisionRules {
  runState: RunState;
  /** Lets reads start other members of the group that are due, and checks of the store. Each fresh read looks at it. */
  piggyback: PiggybackTrigger;
}

/** How long `close()` waits for aborted loads to release their leases. */
const RELEASE_GRACE_MS = 1000;

/**
 * Starts loads for entries and applies their results.
 *
 * Two callers and one due entry:
 *
 *  1. caller A finds no flight; one is put into the entry before any code of the load runs;
 *  2. caller B, whenever it comes, finds that flight, and is served or waits for the same one;
 *  3. the flight settles: it leaves the entry first, with all waiters; then its outcome is applied, then events are
 *     emitted, then the waiters are settled. A listener or waiter that reads at once finds the new state, and a load
 *     that is requested from within an event is a new one;
 *  4. a flight that is past its deadline has left the entry already, and its result counts as late.
 *
 * An invalidation during a load:
 *
 *  1. reader A waits for the load; `invalidate()` marks the load as superseded, and lets it go on;
 *  2. reader B comes: it must not get that result, and waits for the successor, for at most one `timeout` from its call;
 *  3. the load settles: A gets the result, which is stored as already due (after a drop it is not stored);
 *  4. the successor starts, and answers B: it began after B came.
 *
 * So at most one load runs, whatever the number of invalidations. A load that no one can use, after `set` or a drop, is
 * aborted. It keeps its place until it has settled, or to its deadline: loads that ignore their signal do not pile up.
 */
export class Loader<T> implements FlightHost<T> {
  readonly options: EngineOptions;
  readonly events: Events;
  readonly timing: Timing;
  readonly reporter: LoadReporter;
  /** `undefined` without a lock and a store. */
  readonly coordinator: Coordinator | undefined;
  /** Whether reads may start loads, and the options that decide on reads. */
  readonly rules: ReadRules;
  /** The owner of the entries, where it must know what happens to them. */
  owner: EntryOwner<T> | undefined = undefined;
  /** The same, where the entries are those of many keys. */
  keys: KeyedOwner<T> | undefined = undefined;
  /** Puts the initial value of the one entry into place; `undefined`: it is, or there is none. */
  initial: (() => void) | undefined = undefined;
  readonly load: Load<T>;
  readonly active: ActiveLoads<T>;
  readonly jitter: RetryJitter;
  /** The replacements of values. The owner of many keys has them delivered when an entry is in its place. */
  readonly changes: Changes;
  /** The values in place that a backup has made. */
  readonly backups: Backups;
  readonly #settler: Settler<T>;

  constructor(options: EngineOptions, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.options = options;
    this.events = new Events(options.name, options, new Counters(), options.listeners);
    this.timing = new Timing(options, nextExecuteTime);
    this.coordinator = options.membership?.coordinator(options, this.events, this.timing);
    const { whenTooStale, whenFailing } = options;
    const piggyback = this.coordinator?.checks?.trigger ?? neverTriggers;
    this.rules = { runState: 'open', whenTooStale, whenFailing, piggyback };
    this.reporter = new LoadReporter(options, this.rules);
    this.backups = new Backups(options);
    this.changes = new Changes(options, this.events);
    this.#settler = new Settler(this);
    this.load = load;
    this.active = new ActiveLoads(options.clock);
    this.jitter = new RetryJitter(options.random);
  }

  /**
   * The result of the load under way, or of one that this starts. It joins before it starts: a load may be synchronous. Rejects
   * at once where the load itself asks.
   *
   * @param limit of this caller.
   */
  next(
    entry: Entry<T>,
    signal: AbortSignal | undefined,
    trigger: Trigger = nextTrigger(entry),
    limit?: WaitLimit,
  ): Promise<T> {
    if (entry.flight !== undefined && isOnStack([entry])) {
      this.startNow(entry, trigger, false); // where it is superseded, the next one
      return rejected(ownLoadError(this.options.name, entry.key));
    }
    const next = this.waitersFor(entry).next(signal, limit);
    this.startNow(entry, trigger, false);
    return next;
  }

  /** Those among which a caller waits that comes now. */
  waitersFor(entry: Entry<T>): Waiters<T> {
    if (entry.flight?.outdatedBy === undefined) return waitersOf(entry);
    const { options } = this;
    const { clock, timeoutMs: ms } = options;
    const error = (): Error => timeoutError(options, entry.key, 0);
    entry.nextWaiters ??= new Waiters(entry.flight, { clock, ms, error });
    return entry.nextWaiters;
  }

  /** Starts a load on the caller's stack. A synchronous one has settled when this returns. */
  startNow(entry: Entry<T>, trigger: Trigger, background: boolean): void {
    const underWay = entry.flight;
    if (underWay === undefined) this.#start(entry, trigger, background, 'now');
    else if (underWay.outdatedBy !== undefined) {
      underWay.reloadAfter = trigger === 'forced' ? trigger : (underWay.reloadAfter ?? 'read');
    } else {
      if (!underWay.hasStarted) inDetachedContext(() => underWay.start());
      if (trigger === 'forced') entry.cluster?.requireFresh();
    }
    if (background) this.callWaitUntil(entry, this.options.waitUntil);
  }

  /** Starts a load behind the caller, which has been served. */
  startBehind(entry: Entry<T>): void {
    const { flight } = entry;
    if (flight === undefined) this.#start(entry, nextTrigger(entry), true, 'behind');
    else if (flight.outdatedBy !== undefined) flight.reloadAfter ??= 'read';
    const { waitUntil } = this.options;
    if (waitUntil !== undefined) this.callWaitUntil(entry, waitUntil);
  }

  /** Passes the end of the load under way, and of what is published behind it, to a platform that would end both before. */
  callWaitUntil(entry: Entry<T>, waitUntil: WaitUntil | undefined): void {
    if (waitUntil === undefined || entry.flight === undefined) return;
    passToPlatform(waitUntil, this.waitersFor(entry).end(), this.options.logger);
  }

  #start(entry: Entry<T>, trigger: Trigger, background: boolean, when: 'now' | 'behind'): void {
    const { key } = entry;
    const details: ExecutionStart =
      key === undefined ? { trigger, background } : { trigger, background, key };
    const flight = new Flight(this, entry, details);
    entry.inheritedDeadline = Infinity;
    entry.flight = flight;
    this.active.entries.add(entry);
    entry.waiters?.follow(flight);
    inDetachedContext(() => {
      if (this.coordinator === undefined) this.events.emit('load-started', details);
      if (when === 'now') flight.start();
      else flight.startBehind(this.#settler.isSynchronous ? 'macrotask' : 'microtask');
    });
    // A snapshot is published behind the caller that waits for the load.
    if (!background && this.coordinator !== undefined) this.callWaitUntil(entry, this.options.waitUntil);
    if (entry.flight === flight) this.owner?.changed(entry);
  }

  /**
   * Sets the value by hand: a flight under way is aborted, and its waiters get this value.
   *
   * @param prepare called right before the value is in place.
   * @param edition it is an earlier one, with the times of that.
   */
  put(entry: Entry<T>, value: T, prepare?: () => void, edition?: RemoteResult<T>): void {
    // The owner hears of it once the value is in place: a group would start the next load before.
    const answer = this.#replaceLoad(entry, 'superseded by set()');
    prepare?.();
    this.coordinator?.replaced(entry);
    this.#settler.set(entry, value, edition);
    answer(value);
    this.inPlace(entry);
  }

  /** Aborts the load under way, for what a person puts into place. @returns answers all that wait for a load with that. */
  #replaceLoad(entry: Entry<T>, why: string): (value: T) => void {
    this.abort(entry, new DOMException(why, 'AbortError'));
    const { nextWaiters } = entry;
    const waiters = takeWaiters(entry);
    entry.nextWaiters = undefined;
    if (entry.flight !== undefined) entry.flight.reloadAfter = undefined;
    return (value) => {
      waiters?.resolve(value);
      nextWaiters?.resolve(value);
    };
  }

  /**
   * Puts the snapshot of another instance into place. A load under way goes on, and its result replaces it; but a pinned
   * version ends it, as `set` does.
   */
  adopt(entry: Entry<T>, remote: RemoteResult<T>): void {
    this.keys?.pin(entry);
    const endsLoad = remote.isPinned === true && entry.cluster?.isLoading === true;
    const answer = endsLoad ? this.#replaceLoad(entry, 'superseded by a pinned version') : undefined;
    try {
      this.#settler.adopt(entry, remote);
      if (remote.result !== undefined) {
        const { version, result } = remote;
        const { nextExecuteTime, loadedAt } = entry;
        const isAbsent = result === 'absent';
        const age = isAbsent ? undefined : this.options.clock.monotonic() - loadedAt;
        const end = { outcome: 'adopted', version, nextExecuteTime, age, isAbsent } as const;
        const about = { startedAt: this.options.now(), took: 0, attempts: 0 };
        this.events.ended(executionRecord(checkStart(entry), about, end));
      }
      answer?.(entry.value as T);
    } finally {
      this.keys?.unpin(entry);
      this.inPlace(entry);
    }
  }

  /**
   * The load under way began before an invalidation. It goes on where its result is of use: to readers that wait for it,
   * or as a younger value than the one that is served. The caller notifies the owner, once the entry is in its new state.
   */
  supersede(entry: Entry<T>, by: 'invalidate' | 'drop'): void {
    const { flight } = entry;
    if (flight === undefined || flight.outdatedBy === 'abort') return;
    const isOfUse = flight.hasStarted && (by === 'invalidate' || entry.waiters?.hasReaders === true);
    if (isOfUse) {
      if (flight.outdatedBy !== 'drop') flight.outdatedBy = by;
      if (by === 'drop') {
        // All readers of a load whose result will not be stored have given up.
        waitersOf(entry).onAbandoned = () => {
          // It is another one by now, or has begun since: it waited for a lease.
          if (entry.flight !== flight || flight.outdatedBy !== by) return;
          this.supersede(entry, by);
          this.owner?.changed(entry);
        };
      }
      return;
    }
    this.abort(entry, new DOMException('superseded by invalidate()', 'AbortError'));
    if (entry.flight === undefined) this.#startSuccessor(entry, flight.reloadAfter);
    else takeWaiters(entry)?.resolve(entry.value as T); // they wait for the end only, which this is
  }

  /**
   * Aborts the load under way, if there is one: its result will be dropped. One that has begun keeps its place until it has
   * settled. Waiters go on waiting. The caller notifies the owner.
   */
  abort(entry: Entry<T>, reason: Error): void {
    const { flight } = entry;
    if (flight === undefined) return;
    if (flight.hasStarted) {
      flight.outdatedBy = 'abort';
      flight.abortAndDrain(reason);
    } else this.#end(entry, flight, reason);
  }

  /**
   * Ends the load under way as failed: it is aborted, its waiters are rejected, the cool-down begins. One that has begun
   * keeps its place until it has settled. @returns whether there was one.
   */
  cancel(entry: Entry<T>, reason: unknown): boolean {
    const { flight, key } = entry;
    if (flight === undefined || flight.outdatedBy === 'abort') return false;
    const message = reason === undefined ? 'cancelled' : `cancelled: ${messageOf(reason)}`;
    const about = { member: this.options.name, key, cause: reason };
    flight.cancel((attempts) => new TicklessError('LOAD_FAILED', message, { ...about, attempts }));
    return true;
  }

  /** Aborts the load under way, and frees its place at once. */
  #end(entry: Entry<T>, flight: LoadHandle, reason: Error): void {
    const waiters = this.#leave(entry, flight);
    if (waiters !== undefined) putBackWaiters(entry, waiters);
    flight.end(reason);
  }

  /**
   * Starts the next load, if readers wait for it, or came while a superseded load was under way. Not on this stack: a load
   * that invalidates its own value would call itself. Not in a microtask either: such a load would keep all else from
   * running.
   */
  #startSuccessor(entry: Entry<T>, wanted: LoadHandle['reloadAfter']): void {
    if (entry.flight !== undefined) return; // user code has started it
    if (!entry.waiters?.hasReaders && wanted === undefined) {
      takeWaiters(entry)?.resolve(entry.value as T); // they wait for the end only, which this is
      return;
    }
    const start = (): void => {
      if (entry.successor === timer) entry.successor = undefined;
      this.#startNext(entry, wanted);
      this.owner?.changed(entry);
    };
    const timer = this.options.clock.setTimeout(start, 0);
    entry.successor = timer; // until then the entry stays the one of its key
    if (waitersOf(entry).keepsAlive) timer.ref();
  }

  #startNext(entry: Entry<T>, wanted: LoadHandle['reloadAfter']): void {
    const awaits = entry.waiters?.hasReaders ? (wanted ?? 'read') : undefined;
    if (awaits === undefined && entry.flight !== undefined) return; // user code has started it
    const now = this.checkClocks(entry);
    switch (decideNext(entry, this.rules, now, awaits)) {
      case 'wait-for-load':
        this.startNow(entry, awaits === 'forced' ? awaits : nextTrigger(entry), false);
        return;
      case 'serve-and-start':
        this.#start(entry, nextTrigger(entry), true, 'now');
        return;
      case 'reject':
        takeWaiters(entry)?.reject(nextError(entry, this.rules, this.options));
        return;
      case 'serve':
        takeWaiters(entry)?.resolve(entry.value as T); // they wait for the end only, which this is
    }
  }

  /** Compares the clocks if it is time to. @returns the monotonic clock. */
  checkClocks(entry: Entry<T>): number {
    this.initial?.(); // before the clock is read: it is due from the moment at which it is in place
    const now = this.options.clock.monotonic();
    if (now >= entry.checkClocksAt) this.compareClocks(entry, now);
    return now;
  }

  /**
   * Computes the due time anew if the wall clock was stepped. Also puts the initial value into place: all that depends on the state of
   * an entry calls this before.
   */
  compareClocks(entry: Entry<T>, now: number): void {
    this.initial?.();
    const { dueAt } = entry;
    this.#planned(entry, this.timing.compareClocks(entry, now));
    if (entry.dueAt !== dueAt) this.owner?.changed(entry);
  }

  /** The timing has another schedule. */
  rescheduled(entry: Entry<T>): void {
    this.#planned(entry, this.timing.rescheduled(entry));
    this.owner?.changed(entry);
  }

  #planned(entry: Entry<T>, coolingDown: CoolingDown | undefined): void {
    if (coolingDown !== undefined) this.reporter.brokenSchedule(entry, coolingDown);
  }

  /** Lets the read or request at hand start other members of the group that are due, and a check of the store. */
  triggerPiggyback(): void {
    const { piggyback } = this.rules;
    if (piggyback.readsFrom === Infinity) return;
    const now = this.options.clock.monotonic();
    if (now >= piggyback.readsFrom) piggyback.read(now);
  }

  /** Waits until no load is under way, at most `timeoutMs`; then aborts the rest, and rejects their waiters. Never rejects. */
  async drain(timeoutMs: number): Promise<CloseReport> {
    for (const entry of [...this.active.entries])
      if (entry.flight?.outdatedBy === 'abort') this.#endByClose(entry);
    if (timeoutMs > 0) {
      for (const { flight } of this.active.entries) flight?.ref();
      await this.active.idle(timeoutMs);
    }
    const { name } = this.options;
    const aborted = Array.from(this.active.entries, ({ key }) => cutOff(name, key));
    for (const entry of [...this.active.entries]) this.#endByClose(entry);
    // Leases are released when the aborted loads have settled, or left to expire.
    await Promise.all([this.active.idle(RELEASE_GRACE_MS), this.coordinator?.close()]);
    return closeReport({ aborted, leases: this.coordinator?.leases ?? [] });
  }

  #endByClose(entry: Entry<T>): void {
    const error = closedError(this.options.name, entry.key, 'was closed before its load had ended');
    this.#end(entry, entry.flight as LoadHandle, error);
    takeWaiters(entry)?.reject(error);
    this.owner?.changed(entry);
  }

  settled(execution: Flight<T>, end: FlightEnd<T>): void {
    const { entry } = execution;
    if (execution.outdatedBy === 'abort' && entry.isLoaded && entry.promise !== execution.previous) {
      // A listener of its abort has put a value into place, which the failure is older than.
      if (end.kind === 'failed') void execution.round?.fail(end.error as Error);
      if (end.kind !== 'cancelled' || !end.isLive) this.gone(execution);
      return;
    }
    this.keys?.pin(entry);
    try {
      const waiters = this.#leave(entry, execution);
      execution.isAwaited = waiters?.hasReaders === true;
      const isCancelled = end.kind === 'cancelled';
      if (isCancelled && end.isLive) {
        // It may not have noticed yet: no other begins before it has settled.
        entry.flight = execution;
        execution.outdatedBy = 'abort';
        this.active.entries.add(entry);
      }
      const settlement = this.#settler.settle(execution, end);
      this.coordinator?.executed();
      execution.report(executionEnd(execution, end, settlement, this.options));
      if (settlement.kind === 'again' && entry.isLoaded && this.rules.runState === 'closed') {
        waiters?.resolve(entry.value as T);
      } else if (settlement.kind === 'again') {
        if (waiters !== undefined) putBackWaiters(entry, waiters);
        if (execution.reloadAfter !== 'forced') execution.reloadAfter = settlement.wanted;
        entry.inheritedDeadline = Math.min(entry.inheritedDeadline, execution.deadlineAt);
      } else {
        if (waiters !== undefined) settleWaiters(waiters, settlement);
        if (entry.waiters === undefined && execution.reloadAfter === undefined) return; // none came too late
        // A user's code may have started the load of those already.
        if (entry.flight === undefined || isCancelled) this.#settleLate(execution, settlement);
      }
      this.#startSuccessor(entry, takeReloadAfter(execution));
    } finally {
      this.keys?.unpin(entry);
      this.inPlace(entry);
    }
  }

  /** All of a new value is in place. */
  inPlace(entry: Entry<T>): void {
    this.backups.placed(entry);
    this.owner?.changed(entry);
    if (this.keys === undefined) this.changes.deliver();
  }

  /** Those that came after the load was superseded: its result may be good enough for them all the same. */
  #settleLate(execution: Flight<T>, settlement: Settlement<T>): void {
    const { entry } = execution;
    if (settlement.isForAll) settleWaiters(takeWaiters(entry), settlement);
    else if (settlement.kind === 'failed' && execution.reloadAfter !== 'forced') {
      takeWaiters(entry)?.reject(coolingDownError(entry, this.options));
    } else return;
    execution.reloadAfter = undefined;
  }

  gone(execution: Flight<T>): void {
    const { entry } = execution;
    if (entry.flight !== execution) return;
    this.keys?.pin(entry);
    const waiters = this.#leave(entry, execution);
    if (!execution.isOvertaken)
      waiters?.resolve(entry.value as T); // they have waited for its end only
    else if (waiters !== undefined) putBackWaiters(entry, waiters);
    this.#startSuccessor(entry, takeReloadAfter(execution));
    this.keys?.unpin(entry);
    this.owner?.changed(entry);
  }

  /** Frees the place of a load. @returns those that it answers; those that came too late wait for the next one. */
  #leave(entry: Entry<T>, flight: LoadHandle): Waiters<T> | undefined {
    if (entry.flight !== flight) return undefined; // by identity: it can't remove its successor
    entry.flight = undefined;
    this.active.entries.delete(entry);
    this.active.ended();
    const waiters = takeWaiters(entry);
    entry.waiters = entry.nextWaiters;
    entry.nextWaiters = undefined;
    entry.waiters?.follow(undefined);
    return waiters;
  }
}

function takeReloadAfter(flight: LoadHandle): LoadHandle['reloadAfter'] {
  const { reloadAfter } = flight;
  flight.reloadAfter = undefined;
  return reloadAfter;
}

function settleWaiters<T>(waiters: Waiters<T> | undefined, settlement: Settlement<T>): void {
  if (settlement.kind === 'loaded') waiters?.resolve(settlement.value, settlement.settled);
  else waiters?.reject(settlement.error, settlement.settled);
}

/** Why the next load of an entry runs, unless it is forced. */
export function nextTrigger(entry: Entry<unknown>): Trigger {
  if (entry.isInvalidated) return 'invalidated';
  return entry.isLoaded && !entry.isInitial ? 'due' : 'first';
}
