import type { DurationLike } from '../duration.ts';
import { type Door, open, shut } from '../membership.ts';
import type { Events } from '../observe/events.ts';
import { defaults, type WaitUntil } from '../options.ts';
import { durationArgument, type Policy, scheduleArgument } from '../policy.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { type Gate, isDue } from './decide.ts';
import { rejected, voided } from './deferred.ts';
import { type Entry, forget, takeWaiters, waitersOf } from './entry.ts';
import type { Keeper } from './keeper.ts';
import type { Load } from './launcher.ts';
import { Reader } from './reader.ts';
import { closedError, coolingDown } from './refusal.ts';
import { nextTrigger, Starter } from './starter.ts';
import { type ExecutionStatus, executionStatus } from './status.ts';
import type { Timetable } from './timetable.ts';

/**
 * The one mechanism under executors, values and caches: reads, and all else that is asked for. It holds no entry of its
 * own, so that it serves one value as well as a million keys.
 */
export class Refresher<T> {
  readonly reads: Reader<T>;
  readonly #starter: Starter<T>;
  readonly #policy: Policy;
  #closing: Promise<void> | undefined;

  constructor(policy: Policy, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.#policy = policy;
    this.#starter = new Starter(policy, load, nextExecuteTime);
    this.reads = new Reader(this.#starter);
  }

  get events(): Events {
    return this.#starter.events;
  }

  get timetable(): Timetable {
    return this.#starter.timetable;
  }

  get gate(): Gate {
    return this.#starter.gate;
  }

  /** Where reads find out that others in the group are due. */
  get door(): Door {
    return this.#starter.door;
  }

  /** Has joined a group, or who is told of changes of entries from now on. */
  keptBy(keeper: Keeper<T>, door: Door = this.door): void {
    this.#starter.launcher.keeper = keeper;
    this.#starter.door = door;
  }

  /** Starts what is due. Waits for it when told to, else only while nothing ever succeeded. */
  requestStart(entry: Entry<T>, wait: boolean | undefined, waitUntil: WaitUntil | undefined): Promise<void> {
    if (this.#starter.gate === 'closed') return rejected(closedError(this.#policy.name, entry.key));
    const waits = wait ?? !entry.isLoaded;
    const decision = this.#starter.look(entry);
    const mayStart = entry.flight === undefined && decision !== 'serve' && decision !== 'reject';
    let next: Promise<void> = DONE;
    if (waits && (mayStart || entry.flight !== undefined)) next = voided(this.#starter.next(entry));
    else if (mayStart && entry.isLoaded) this.#starter.startBehind(entry);
    else if (mayStart) this.#starter.startNow(entry, nextTrigger(entry), true);
    else if (waits && !entry.isLoaded) next = rejected(this.#starter.refusal(entry));
    else if (waits && this.#starter.gate === 'open' && isDue(entry, this.#policy.clock.monotonic())) {
      next = rejected(coolingDown(entry, this.#policy.name, this.#policy.clock.monotonic()));
    }
    this.#starter.promiseEnd(entry, waitUntil);
    this.#starter.wakeOthers();
    return next;
  }

  /**
   * Starts a load behind the caller, though nobody asked for this entry: it is due, or soon will be.
   *
   * @param hold the process is to live until it has ended.
   * @returns whether it was started.
   */
  startAhead(entry: Entry<T>, hold: boolean): boolean {
    const now = this.#starter.lookAtClocks(entry);
    if (this.#starter.gate !== 'open' || entry.flight !== undefined || now < entry.coolDownUntil)
      return false;
    this.#starter.startBehind(entry);
    if (hold && entry.flight !== undefined) void waitersOf(entry).end();
    return true;
  }

  /** A load now, due or not, cooling down or not. Joins the one under way. */
  refresh(entry: Entry<T>): Promise<T> {
    if (this.#starter.gate === 'closed' && entry.flight === undefined) {
      return rejected(closedError(this.#policy.name, entry.key));
    }
    return this.#starter.next(entry, undefined, 'forced');
  }

  /** Makes the entry due at once. A flight under way is aborted; who waits for it waits for its successor. */
  invalidate(entry: Entry<T>, drop: boolean): void {
    this.#starter.launcher.abort(entry, new DOMException('superseded by invalidate()', 'AbortError'));
    this.#starter.timetable.invalidated(entry);
    if (drop) forget(entry);
    this.#succeed(entry);
    this.#starter.launcher.keeper.changed(entry);
  }

  /** A value by hand. A flight under way is aborted; who waits for it gets this value. */
  set(entry: Entry<T>, value: T): void {
    this.#starter.launcher.put(entry, value);
  }

  /** Another schedule: the due time of the entry is computed anew from its last execution. */
  reschedule(entry: Entry<T>, schedule: ScheduleLike): void {
    this.#starter.timetable.schedule = scheduleArgument(this.#policy.name, schedule);
    this.#starter.launcher.tellBrokenSchedule(entry, this.#starter.timetable.rescheduled(entry));
    this.#starter.launcher.keeper.changed(entry);
  }

  pause(): void {
    if (this.#starter.gate !== 'open') return;
    this.#starter.gate = 'paused';
    this.#starter.events.emit('paused', {});
    this.#starter.launcher.keeper.turned();
  }

  resume(): void {
    if (this.#starter.gate !== 'paused') return;
    this.#starter.gate = 'open';
    this.#starter.events.emit('resumed', {});
    this.#starter.launcher.keeper.turned();
  }

  /** Starts nothing any more, waits for what runs, then aborts it. Every call gets the same promise. */
  close(timeout: DurationLike | undefined): Promise<void> {
    const timeoutMs = durationArgument(this.#policy.name, 'timeout', timeout ?? defaults.closeTimeout);
    if (this.#starter.gate !== 'closed') {
      this.#starter.gate = 'closed';
      this.#starter.door = this.#policy.whenClosed === 'throw' ? shut : open;
      this.#starter.launcher.keeper.turned();
    }
    this.#closing ??= this.#starter.launcher
      .drain(timeoutMs, (entry) => closedError(this.#policy.name, entry.key))
      .then(() => {
        this.#starter.events.emit('closed', {});
        this.#starter.events.clear();
      });
    return this.#closing;
  }

  /** How the entry stands now. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.#policy.clock.monotonic();
    this.compareClocks(entry, now);
    return executionStatus(entry, this.#policy, this.#starter.gate, this.#starter.timetable, now);
  }

  /**
   * A successor for a load that was aborted while readers wait for it. Not on this stack: a load that invalidates its
   * own value would call itself, and a burst of invalidations would start a load each. Not in a microtask either:
   * such a load would keep all else from running.
   */
  #succeed(entry: Entry<T>): void {
    if (!entry.waiters?.hasReaders) {
      takeWaiters(entry)?.resolve(entry.value as T); // only those who wait for the end, which this is
      return;
    }
    const start = (): void => {
      if (this.#starter.gate === 'closed')
        takeWaiters(entry)?.reject(closedError(this.#policy.name, entry.key));
      else if (entry.waiters?.hasReaders) this.#starter.startNow(entry, 'invalidated', false);
    };
    this.#policy.clock.setTimeout(start, 0).ref();
  }

  /** Has the wall clock been stepped? Then the due time is computed anew. */
  compareClocks(entry: Entry<T>, now: number): void {
    this.#starter.compareClocks(entry, now);
  }

  /** Hands a promise to a platform. */
  promise(waitUntil: WaitUntil, end: Promise<unknown>): void {
    this.#starter.promise(waitUntil, end);
  }
}

const DONE: Promise<void> = Promise.resolve();
