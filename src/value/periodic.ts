import type { Entry } from '../engine/entry.ts';
import type { Refresher } from '../engine/refresher.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { EntryMember } from '../group/entry-member.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { WaitUntil } from '../options/shared-options.ts';
import type { ScheduleLike } from '../schedule/schedule.ts';
import { Lifecycle } from './lifecycle.ts';

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

/**
 * What a task and a value have in common: it is started when it is asked and due, on a schedule that may change.
 *
 * No promise that it returns becomes an unhandled rejection when it is dropped.
 */
export abstract class Periodic<T> extends Lifecycle<T> {
  readonly #entry: Entry<T>;
  readonly #refresher: Refresher<T>;

  constructor(policy: ResolvedOptions, entry: Entry<T>, refresher: Refresher<T>) {
    super(refresher);
    if (policy.family !== undefined) new EntryMember(policy, entry, refresher, () => this.inspect());
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

  /** The state at this instant. Starts nothing, never throws. */
  abstract inspect(): ExecutionStatus;

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
}
