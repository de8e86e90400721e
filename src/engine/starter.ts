import { Cluster } from '../cluster/cluster.ts';
import { isAbsentError, type TicklessError } from '../errors.ts';
import { type Door, open } from '../group/membership.ts';
import { handOver } from '../observe/call-user-code.ts';
import { Events } from '../observe/events.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { WaitUntil } from '../options/shared-options.ts';
import type { Execution } from '../schedule/schedule.ts';
import { type Decision, decide, type Gate, isDue, isStandingBy } from './decide.ts';
import { type Entry, keyOf, waitersOf } from './entry.ts';
import type { Trigger } from './load-context.ts';
import { Launcher, type Load } from './loader.ts';
import { notLoaded, refusal } from './read-errors.ts';
import { Timing } from './timing.ts';

/**
 * What reads and requests have in common: they look at an entry and its clocks, start loads in their ways, and say
 * why they can't.
 */
export class Starter<T> {
  readonly policy: ResolvedOptions;
  readonly events: Events;
  readonly timing: Timing;
  readonly launcher: Launcher<T>;
  /** Its lock and store, where it has one. */
  readonly cluster: Cluster | undefined;
  gate: Gate = 'open';
  /** Where reads find out that others in the group are due. */
  door: Door = open;

  constructor(policy: ResolvedOptions, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.policy = policy;
    this.events = new Events(policy.name, () => policy.clock.now(), policy.logger);
    this.timing = new Timing(policy, nextExecuteTime);
    const isShared = policy.lock !== undefined || policy.store !== undefined;
    this.cluster = isShared ? new Cluster(policy, this.events) : undefined;
    this.launcher = new Launcher(policy, this.events, this.timing, load, this.cluster);
  }

  /** What a read does now. */
  look(entry: Entry<T>): Decision {
    return this.decide(entry, this.lookAtClocks(entry));
  }

  /** What a read does at an instant at which the clocks have been looked at. */
  decide(entry: Entry<T>, now: number): Decision {
    const { whenTooStale, whenClosed } = this.policy;
    return decide(entry, { gate: this.gate, whenTooStale, whenClosed }, now);
  }

  /** It stands by for others: who waits for the outcome may start a load all the same. */
  isStandingBy(entry: Entry<T>): boolean {
    return isStandingBy(entry, this.gate, this.policy.clock.monotonic());
  }

  /** Has the wall clock been stepped? Then the due time is computed anew. */
  compareClocks(entry: Entry<T>, now: number): void {
    const { dueAt } = entry;
    this.launcher.teller.brokenSchedule(entry, this.timing.compareClocks(entry, now));
    if (entry.dueAt !== dueAt) this.launcher.keeper.changed(entry);
  }

  /** Compares the clocks when it is time to. Answers with the monotonic clock. */
  lookAtClocks(entry: Entry<T>): number {
    const now = this.policy.clock.monotonic();
    if (now >= entry.lookAt) this.compareClocks(entry, now);
    return now;
  }

  /** Waits for the flight under way, or starts one. It joins before it starts: a synchronous load settles it too. */
  next(entry: Entry<T>, signal?: AbortSignal, trigger: Trigger = nextTrigger(entry)): Promise<T> {
    const next = waitersOf(entry).next(signal);
    this.startNow(entry, trigger, false);
    return next;
  }

  /** Starts a load on the caller's stack. */
  startNow(entry: Entry<T>, trigger: Trigger, background: boolean): void {
    this.launcher.start(entry, { trigger, background }, 'now');
    if (background) this.promiseEnd(entry, this.policy.waitUntil);
  }

  /** Starts a load behind the caller, who has been served. */
  startBehind(entry: Entry<T>): void {
    this.launcher.start(entry, { trigger: nextTrigger(entry), background: true }, 'behind');
    this.promiseEnd(entry, this.policy.waitUntil);
  }

  /** Promises the end of the load under way to a platform that would freeze the process before. */
  promiseEnd(entry: Entry<T>, waitUntil: WaitUntil | undefined): void {
    if (waitUntil === undefined || entry.flight === undefined) return;
    this.promise(waitUntil, waitersOf(entry).end());
  }

  /** Hands a promise to a platform. */
  promise(waitUntil: WaitUntil, end: Promise<unknown>): void {
    handOver(waitUntil, end, this.policy.logger);
  }

  /** Tells that a read is served what is due for a reload. */
  tellStale(entry: Entry<T>): void {
    if (!this.events.has('stale-served')) return;
    const now = this.policy.clock.monotonic();
    if (isDue(entry, now)) this.events.emit('stale-served', { age: now - entry.loadedAt, ...keyOf(entry) });
  }

  /** Why a read may neither be served nor wait. */
  refusal(entry: Entry<T>): TicklessError {
    const { whenClosed, name, clock } = this.policy;
    return refusal(entry, { gate: this.gate, whenClosed }, name, clock.monotonic());
  }

  /** As {@link refusal}, for who can't wait: without a value it is "not loaded", unless the source has none either. */
  refusalNow(entry: Entry<T>): TicklessError {
    const isShut = this.gate === 'closed' && this.policy.whenClosed === 'throw';
    if (entry.isLoaded || isShut || isAbsentError(entry.lastError)) return this.refusal(entry);
    return notLoaded(entry, this.gate, this.policy.name);
  }

  /** Lets the group start what is due among the others. */
  wakeOthers(): void {
    const { readsFrom } = this.door;
    if (readsFrom < Infinity && this.policy.clock.monotonic() >= readsFrom) this.door.read();
  }
}

/** Why the next load of an entry runs, if nobody forces it. */
export function nextTrigger(entry: Entry<unknown>): Trigger {
  if (entry.isInvalidated) return 'invalidated';
  return entry.isLoaded ? 'due' : 'first';
}
