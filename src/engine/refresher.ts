import { type Door, type HealthProblem, open, shut } from '../group/membership.ts';
import type { Events } from '../observe/events.ts';
import { durationArgument, type ResolvedOptions, scheduleArgument } from '../options/resolve-options.ts';
import { defaults, type WaitUntil } from '../options/shared-options.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { Deferred, rejected, voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Gate, isDue, startableFrom } from './decide.ts';
import { type Entry, forget } from './entry.ts';
import type { EntryOwner } from './entry-owner.ts';
import { clusterHealth } from './health.ts';
import type { Load } from './loader.ts';
import { closedError, coolingDown } from './read-errors.ts';
import { Reader } from './reader.ts';
import { nextTrigger, Starter } from './starter.ts';
import { type ExecutionStatus, executionStatus } from './status.ts';
import type { Timing } from './timing.ts';

/**
 * The one mechanism under executors, values and caches: reads, and all else that is asked for. It holds no entry of its
 * own, so that it serves one value as well as a million keys.
 */
export class Refresher<T> {
  readonly reads: Reader<T>;
  /** Where reads find out that others in the group are due. Here too, since each fresh read looks at it. */
  door: Door = open;
  readonly #starter: Starter<T>;
  readonly #policy: ResolvedOptions;
  #closing: Deferred<void> | undefined;

  constructor(policy: ResolvedOptions, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.#policy = policy;
    this.#starter = new Starter(policy, load, nextExecuteTime);
    this.reads = new Reader(this.#starter);
  }

  get events(): Events {
    return this.#starter.events;
  }

  get timing(): Timing {
    return this.#starter.timing;
  }

  get gate(): Gate {
    return this.#starter.gate;
  }

  /** What somebody should know of its lock and its store. */
  clusterHealth(): HealthProblem[] {
    const { cluster, policy } = this.#starter;
    return cluster === undefined ? [] : clusterHealth(policy.name, cluster);
  }

  /** Has joined a group, or who is told of changes of entries from now on. */
  keptBy(keeper: EntryOwner<T>, door: Door = this.door): void {
    this.#starter.launcher.keeper = keeper;
    this.#through(door);
  }

  /** Starts what is due. Waits for it when told to, else only while nothing ever succeeded. */
  requestStart(entry: Entry<T>, wait: boolean | undefined, waitUntil: WaitUntil | undefined): Promise<void> {
    if (this.#starter.gate === 'closed') return rejected(closedError(this.#policy.name, entry.key));
    const waits = wait ?? !entry.isLoaded;
    const decision = this.#starter.look(entry);
    const isToStart = decision !== 'serve' && decision !== 'reject';
    const mayStart =
      entry.flight === undefined && (isToStart || (waits && this.#starter.isStandingBy(entry)));
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
   * Starts a load behind the caller, though nobody asked for this entry: it is due, or will be within `lookAheadMs`.
   *
   * @param until it might have been started from no later than that instant.
   * @returns whether it was started, and is under way: a listener may have ended it at once.
   */
  startAhead(entry: Entry<T>, until: number, lookAheadMs: number): boolean {
    this.#starter.lookAtClocks(entry);
    if (this.#starter.gate !== 'open' || startableFrom(entry, lookAheadMs) > until) return false;
    this.#starter.startBehind(entry);
    return entry.flight !== undefined;
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
    this.#starter.timing.invalidated(entry);
    if (drop) forget(entry);
    this.#starter.launcher.succeed(entry);
    this.#starter.launcher.keeper.changed(entry);
  }

  /** A value by hand. A flight under way is aborted; who waits for it gets this value. */
  set(entry: Entry<T>, value: T, prepare: () => void = () => {}): void {
    this.#starter.launcher.put(entry, value, prepare);
  }

  /** Another schedule: the due time of the entry is computed anew from its last execution. */
  reschedule(entry: Entry<T>, schedule: ScheduleLike): void {
    this.#starter.timing.schedule = scheduleArgument(this.#policy.name, schedule);
    this.#starter.launcher.teller.brokenSchedule(entry, this.#starter.timing.rescheduled(entry));
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
    if (this.#closing !== undefined) return this.#closing.promise;
    const closing = new Deferred<void>();
    this.#closing = closing; // before anybody is told, who may call this again
    const { launcher, events } = this.#starter;
    this.#starter.gate = 'closed';
    this.#through(this.#policy.whenClosed === 'throw' ? shut : open);
    launcher.keeper.turned();
    launcher.drain(timeoutMs).then(() => {
      events.emit('closed', {});
      events.clear();
      closing.resolve();
    });
    return closing.promise;
  }

  /** How the entry stands now. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.#policy.clock.monotonic();
    this.compareClocks(entry, now);
    const { gate, timing, cluster } = this.#starter;
    return executionStatus(entry, this.#policy, gate, timing, now, cluster);
  }

  /** Has the wall clock been stepped? Then the due time is computed anew. */
  compareClocks(entry: Entry<T>, now: number): void {
    this.#starter.compareClocks(entry, now);
  }

  /** Hands a promise to a platform. */
  promise(waitUntil: WaitUntil, end: Promise<unknown>): void {
    this.#starter.promise(waitUntil, end);
  }

  #through(door: Door): void {
    this.door = this.#starter.door = door;
  }
}

const DONE: Promise<void> = Promise.resolve();
