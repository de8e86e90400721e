/// <reference lib="esnext.disposable" preserve="true" />

import type { Refresher } from '../engine/refresher.ts';
import type { EventOf, EventType } from '../observe/events.ts';
import type { Execution } from '../schedule/schedule.ts';
import type { DurationLike } from '../time/duration.ts';

/** What `close` takes. */
export interface CloseOptions {
  /**
   * How long to wait for a running execution before it is aborted. 0: abort at once; `Infinity`: wait as long as it
   * takes. @default 10 seconds
   */
  readonly timeout?: DurationLike | undefined;
}

/**
 * What all that refresh have in common, be it one task, one value or many keys: they can be paused, observed and
 * closed, and a subclass may override the strategy.
 */
export abstract class Lifecycle<T> {
  readonly #refresher: Refresher<T>;

  constructor(refresher: Refresher<T>) {
    this.#refresher = refresher;
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
    return this.#refresher.timing.schedule.nextExecuteTime(execution);
  }
}
