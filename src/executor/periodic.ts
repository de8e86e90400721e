/// <reference lib="esnext.disposable" preserve="true" />

import type { DurationLike } from '../duration.ts';
import type { EventOf, EventType } from '../observe/events.ts';
import type { WaitUntil } from '../options.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import type { Entry } from './entry.ts';
import type { Refresher } from './refresher.ts';

/** What a caller may ask of one `requestStart`. */
export interface RequestStartOptions {
  /**
   * `true`: resolve when the execution that is due or under way has succeeded, reject with its error; resolve at once
   * when none is due, or while paused; reject with `CoolingDownError` when it may not start yet. `false`: resolve at
   * once. @default wait before the first success, don't after it
   */
  readonly wait?: boolean | undefined;
  /** Is given a promise of the end of the execution under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** What `close` takes. */
export interface CloseOptions {
  /**
   * How long to wait for a running execution before it is aborted. 0: abort at once; `Infinity`: wait as long as it
   * takes. @default 10 seconds
   */
  readonly timeout?: DurationLike | undefined;
}

/**
 * What a task and a value have in common: it is started when it is asked and due, on a schedule that may change, and
 * it can be paused, observed and closed.
 *
 * No promise that it returns becomes an unhandled rejection when it is dropped.
 */
export abstract class Periodic<T> {
  readonly #entry: Entry<T>;
  readonly #refresher: Refresher<T>;

  constructor(entry: Entry<T>, refresher: Refresher<T>) {
    this.#entry = entry;
    this.#refresher = refresher;
  }

  /**
   * Starts the task or load if it is due and does not run.
   *
   * Before the first success (and while a value was dropped) it waits: for the end of the execution that it starts or finds running, and rejects
   * with its `LoadError` or `LoadTimeoutError`; while cooling down after a failure it rejects at once with
   * `CoolingDownError`, while paused with `NotLoadedError`. What is synchronous runs right here. After the first
   * success it resolves at once and the execution runs behind. Concurrent callers share one execution, and its
   * failure. Rejects with `ClosedError` after {@link close}.
   */
  requestStart(options?: RequestStartOptions): Promise<void> {
    return this.#refresher.requestStart(this.#entry, options?.wait, options?.waitUntil);
  }

  /**
   * Replaces the schedule. The next execute time is computed anew from the last execution; an instant that has
   * passed is due. A running execution goes on. Without effect on a subclass that overrides {@link nextExecuteTime}
   * and does not call it.
   *
   * @throws {OptionError} when it is no schedule; the old one stays.
   */
  reschedule(schedule: ScheduleLike): void {
    this.#refresher.reschedule(this.#entry, schedule);
  }

  /** Reads and requests start nothing until {@link resume}; what is forced runs. A running execution goes on. */
  pause(): void {
    this.#refresher.pause();
  }

  /** Ends {@link pause}: what fell due meanwhile starts at the next read or request, once. */
  resume(): void {
    this.#refresher.resume();
  }

  /**
   * Calls `listener` at each event of that type, synchronously, in the order of registration. One that throws is
   * logged and harms nobody. A fresh read emits nothing.
   *
   * @returns the function that unsubscribes this listener.
   * @throws {OptionError} when there is no such type, or the listener is no function.
   */
  on<E extends EventType>(type: E, listener: (event: EventOf<E>) => void): () => void {
    return this.#refresher.events.on(type, listener);
  }

  /**
   * Starts nothing any more, waits for a running execution, and aborts it when `timeout` has passed (who waited for
   * it gets `ClosedError`). A value goes on being served. Every call returns the same promise; the options of the
   * first count. Never rejects.
   *
   * @throws {OptionError} when `timeout` is no duration of 0 or more.
   */
  close(options?: CloseOptions): Promise<void> {
    return this.#refresher.close(options?.timeout);
  }

  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * When to execute next, in epoch milliseconds; asked after each success. Override it for a strategy of your own;
   * the default asks the option `schedule`. See {@link Schedule} for what its answer must be.
   */
  protected nextExecuteTime(execution: Execution): number {
    return this.#refresher.timetable.schedule.nextExecuteTime(execution);
  }
}
