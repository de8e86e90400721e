import type { Events } from '../observe/events.ts';
import { passToPlatform, type WaitUntil } from '../observe/wait-until.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { scheduleArgument } from '../schedule/to-schedule.ts';
import { Deferred, rejected } from '../time/deferred.ts';
import type { CoordinationProblem, Coordinator } from './coordinator.ts';
import type { RunState } from './decide.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Entry } from './entry.ts';
import type { EntryOwner, KeyedOwner } from './entry-owner.ts';
import { type Load, Loader } from './loader.ts';
import { alwaysTriggers, neverTriggers } from './piggyback-trigger.ts';
import { closedError } from './read-errors.ts';
import { Reader } from './reader.ts';
import { type ExecutionStatus, executionStatus } from './status.ts';
import type { Timing } from './timing.ts';

/**
 * The engine under executors, values and caches: `reader` has the reads, this class the rest. It holds no entries, so
 * that it serves one value as well as a million keys.
 */
export class Refresher<T> {
  readonly options: EngineOptions;
  readonly reader: Reader<T>;
  readonly timing: Timing;
  readonly #loader: Loader<T>;
  #closing: Deferred<void> | undefined;

  constructor(options: EngineOptions, load: Load<T>, nextExecuteTime: (execution: Execution) => number) {
    this.options = options;
    this.#loader = new Loader(options, load, nextExecuteTime);
    this.reader = new Reader(this.#loader);
    this.timing = this.#loader.timing;
  }

  get events(): Events {
    return this.#loader.events;
  }

  get runState(): RunState {
    return this.#loader.rules.runState;
  }

  get coordinator(): Coordinator | undefined {
    return this.#loader.coordinator;
  }

  /** The owner hears of changes of entries from now on. */
  setOwner(owner: EntryOwner<T>): void {
    this.#loader.owner = owner;
  }

  /** The same, where the entries are those of many keys. */
  setKeyedOwner(owner: KeyedOwner<T>): void {
    this.#loader.owner = this.#loader.keys = owner;
  }

  /** Loads now, due or not, cooling down or not. Joins the load under way. */
  refresh(entry: Entry<T>): Promise<T> {
    if (this.#loader.rules.runState === 'closed' && entry.flight === undefined) {
      return rejected(closedError(this.options.name, entry.key));
    }
    return this.#loader.next(entry, undefined, 'forced');
  }

  /** Makes the entry due at once. A flight under way is aborted; its waiters wait for its successor. */
  invalidate(entry: Entry<T>, drop: boolean): void {
    this.#loader.abort(entry, new DOMException('superseded by invalidate()', 'AbortError'));
    this.#loader.timing.invalidated(entry);
    if (drop) entry.forgetValue();
    this.#loader.startSuccessor(entry);
    this.#loader.owner?.changed(entry);
  }

  /** Sets the value by hand. A flight under way is aborted; its waiters get this value. */
  set(entry: Entry<T>, value: T, prepare?: () => void): void {
    this.#loader.put(entry, value, prepare);
  }

  /** Replaces the schedule: the due time of the entry is computed anew from its last execution. */
  reschedule(entry: Entry<T>, schedule: ScheduleLike): void {
    this.#loader.timing.schedule = scheduleArgument(this.options.name, schedule);
    this.#loader.reschedule(entry);
  }

  pause(): void {
    this.#setRunState('open', 'paused');
  }

  resume(): void {
    this.#setRunState('paused', 'open');
  }

  #setRunState(from: RunState, to: 'open' | 'paused'): void {
    if (this.#loader.rules.runState !== from) return;
    this.#loader.rules.runState = to;
    this.#loader.events.emit(to === 'open' ? 'resumed' : 'paused', {});
    this.#loader.owner?.stateChanged();
  }

  /** Starts no more loads, waits for those under way, then aborts them. Every call returns the same promise. */
  close(timeoutMs: number): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise;
    const closing = new Deferred<void>();
    this.#closing = closing; // before listeners run, which may call this again
    this.#loader.rules.runState = 'closed';
    this.reader.piggyback = this.options.whenClosed === 'throw' ? alwaysTriggers : neverTriggers;
    this.#loader.owner?.stateChanged();
    this.#loader.drain(timeoutMs).then(() => {
      this.#loader.events.emit('closed', {});
      this.#loader.events.clear();
      closing.resolve();
    });
    return closing.promise;
  }

  /** The state of the entry at this instant. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.options.clock.monotonic();
    this.#loader.compareClocks(entry, now);
    const { timing, coordinator, rules } = this.#loader;
    return {
      ...executionStatus(entry, this.options.name, rules.runState, timing.nextExecuteTime(entry, now), now),
      ...(coordinator === undefined ? {} : { lock: coordinator.status(entry) }),
    };
  }

  /** Computes the due time anew if the wall clock was stepped. */
  compareClocks(entry: Entry<T>, now: number): void {
    this.#loader.compareClocks(entry, now);
  }

  /** Passes a promise to a platform. */
  passToPlatform(waitUntil: WaitUntil, end: Promise<unknown>): void {
    passToPlatform(waitUntil, end, this.options.logger);
  }

  /** The backends that could not be reached the last time. */
  problems(): readonly CoordinationProblem[] {
    return this.#loader.coordinator?.problems() ?? [];
  }
}
