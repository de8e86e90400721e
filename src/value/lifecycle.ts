/// <reference lib="esnext.disposable" preserve="true" />

import type { CloseReport } from '../data/close-report.ts';
import type { Entry } from '../engine/entry.ts';
import type { ScopeOptions } from '../engine/member-control.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { EventFilter, EventOf, TicklessEvent } from '../observe/events.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import { durationArgument, namesArgument, ownOptions } from '../option-checks.ts';
import { defaults } from '../options/defaults.ts';
import type { MemberOptions } from '../options/resolve-options.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { rejected, voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';

/** The options of `close`. */
export interface CloseOptions {
  /**
   * How long to wait for a running execution before it is aborted. 0: abort at once; `Infinity`: wait as long as it
   * takes. @default 10 seconds
   */
  readonly timeout?: DurationLike | undefined;
}

/** The checked option of `close`, in milliseconds. */
export function closeTimeoutMs(name: string, options: CloseOptions | undefined): number {
  namesArgument(name, options, ['timeout']);
  return durationArgument(name, 'timeout', ownOptions(options)?.timeout ?? defaults.closeTimeout);
}

/**
 * The receiver of a method.
 *
 * @throws {TypeError} where there is none: `const { get } = rates`.
 */
export function asMethod<M extends object>(member: M | undefined): M {
  if (member === undefined)
    throw new TypeError('a method was called without its object: write rates.get(), not get()');
  return member;
}

/** The engine of a member, for the classes of this package. */
export let engineOf: <T>(member: Lifecycle<T>) => MemberEngine<T>;

/**
 * The common part of executors, values and caches: they can be paused, observed and closed, and a subclass may override
 * the strategy.
 */
export abstract class Lifecycle<T> {
  readonly #engine: MemberEngine<T>;

  static {
    engineOf = (member) => asMethod(member).#engine;
  }

  /** @internal */
  constructor(engine: MemberEngine<T>, putSchedule: MemberEngine<T>['putSchedule']) {
    this.#engine = engine;
    engine.putSchedule = putSchedule;
    engine.coordinator?.followControl(engine);
  }

  /**
   * Reads and requests start nothing until {@link resume}; forced loads run. A running execution goes on.
   *
   * With a `backend` on all instances: it is published, under the lock. The other instances pause when they learn
   * of it, within `propagateWithin` of being read; so does one that starts later. The last call counts, there or here.
   * It is kept as long as one of the instances is read now and then within the retention of the backend.
   *
   * @returns a promise, which may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` for an unknown option; nothing was changed then.
   */
  pause(options?: ScopeOptions): Promise<void> {
    return engineOf(this).control(true, options);
  }

  /**
   * Ends {@link pause}: an execution that fell due meanwhile starts at the next read or request, once. With a `backend` on all
   * instances, as {@link pause}, also where one was paused by itself.
   */
  resume(options?: ScopeOptions): Promise<void> {
    return engineOf(this).control(false, options);
  }

  /**
   * Replaces the schedule on this instance. The next execute times are computed anew from the last executions; an instant that has
   * passed is due. A running execution goes on. Of a cache all keys are concerned: they are spread as before, and the cost grows with
   * their number. Without effect on a subclass that overrides {@link nextExecuteTime} and does not call it.
   *
   * For all instances give a schedule that reads a shared setting: `schedule: ({ endedAt }) => endedAt + settings.current.periodMs`.
   *
   * @throws {TicklessError} `OPTION` when it is not a schedule; the old one stays.
   */
  reschedule(schedule: ScheduleLike): void {
    engineOf(this).reschedule(schedule);
  }

  /**
   * Calls `listener` at each event of that type, `'*'` at each event, synchronously: those of the type in the order of
   * registration, then those of `'*'`, then those of the group. The error of a listener is logged; reads and other listeners
   * are not affected, and neither is the log. A fresh read emits nothing.
   *
   * @returns the function that unsubscribes this listener.
   * @throws {TicklessError} `OPTION` for an unknown type, and when the listener is not a function.
   */
  on<E extends EventFilter>(type: E, listener: (event: EventOf<E, T>) => void): () => void {
    return this.#engine.events.on(type, listener as (event: TicklessEvent) => void);
  }

  /**
   * Makes the name known at the backend of its lock, where it is not: operators see a member that has not run yet, with the state
   * `registered`, in `lock.list()` and the console. Of a cache that is its own name; keys have theirs with their first loads. Loads
   * nothing and holds no load back. Without a lock nothing happens.
   *
   * Rejects with `BACKEND_DOWN` when the lock can't be asked, and with `CLOSED` after {@link close}.
   */
  register(): Promise<void> {
    return engineOf(this).register();
  }

  /**
   * Starts no more loads, waits for a running execution, and aborts it when `timeout` has passed (its waiters get
   * `CLOSED`). A value is still served. Every call returns the same promise; the options of the first call count.
   * Resolves with what was cut off, of which there is one log line. Never rejects, but for the load itself: called by it before its first `await`, it closes and rejects at once with
   * `OPTION`, since it would wait for itself.
   *
   * @throws {TicklessError} `OPTION` when `timeout` is not a duration of 0 or more, and for an unknown option.
   */
  close(options?: CloseOptions): Promise<CloseReport> {
    const engine = this.#engine;
    return engine.unlessOwn(engine.close(closeTimeoutMs(engine.options.name, options)));
  }

  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return voided(this.close());
  }

  /**
   * When to execute next, in epoch milliseconds; asked after each success. Override it for a strategy of your own;
   * the default asks the option `schedule`. See {@link Schedule} for the rules of its result.
   */
  protected nextExecuteTime(execution: Execution): number {
    return this.#engine.timing.schedule.nextExecuteTime(execution);
  }
}

/** The options of one `requestStart`. */
export interface RequestStartOptions {
  /**
   * `true`: resolve when the execution that is due or under way has succeeded, reject with its error; resolve at once
   * when none is due; reject with `COOLING_DOWN` when it may not start yet. While paused: resolve at once after the
   * first success, reject with `NOT_LOADED` before it. `false`: resolve at once. @default wait before the first success, don't after it
   */
  readonly wait?: boolean | undefined;
  /** Receives a promise of the end of the execution under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** The entry of a value or an executor, for the classes of this package. */
export let entryOf: <T>(member: Periodic<T>) => Entry<T>;

/**
 * The common part of executors and values: one entry, started when it is requested and due, on a schedule that may
 * change.
 *
 * No promise that it returns becomes an unhandled rejection when the caller drops it.
 */
export abstract class Periodic<T> extends Lifecycle<T> {
  readonly #entry: Entry<T>;

  static {
    entryOf = (member) => member.#entry;
  }

  /** @internal */
  constructor({ group, isRequired, ...options }: MemberOptions, entry: Entry<T>, engine: MemberEngine<T>) {
    super(engine, (schedule) => {
      engine.timing.replaceSchedule(schedule);
      engine.rescheduled(entry);
    });
    this.#entry = entry;
    const status = (values: boolean): ExecutionStatus => this.inspect({ values });
    group?.addSingle({ self: this, options, isRequired, entry, engine, status });
  }

  /**
   * Starts the task or load if it is due and does not run.
   *
   * Before the first success (and after the value was dropped) it waits for the end of the execution that it starts or
   * finds running, and rejects with `LOAD_FAILED` or `TIMED_OUT`; while cooling down after a failure it rejects
   * at once with `COOLING_DOWN`, while paused with `NOT_LOADED`. A synchronous task or load runs on the caller's
   * stack. After the first success it resolves at once and the execution runs behind. Concurrent callers share one
   * execution, and its failure. Rejects with `CLOSED` after {@link close}.
   */
  requestStart(options?: RequestStartOptions): Promise<void> {
    const engine = engineOf(this);
    try {
      namesArgument(engine.options.name, options, ['wait', 'waitUntil']);
    } catch (error) {
      return rejected(error);
    }
    const { wait, waitUntil } = ownOptions(options ?? {});
    return engine.requestStart(this.#entry, wait, waitUntil);
  }

  /** The state at this instant. Starts nothing, never throws. */
  abstract inspect(options?: { readonly values?: boolean }): ExecutionStatus;

  /**
   * Aborts the execution under way, which counts as failed: its `signal` is aborted, callers that wait for it are rejected
   * with a `LOAD_FAILED` error whose `cause` is the reason, the old value stays, and the cool-down begins. In a cluster the round is
   * released as failed once the execution has stopped. One that ignores its signal keeps its place until it has settled,
   * at the latest until its deadline (30 s later with `timeout: Infinity`); no other begins meanwhile. Without a deadline
   * its place among `concurrency` is free at once.
   *
   * @param reason for the error and the log. @default none
   * @returns whether an execution was under way. Never throws.
   */
  cancel(reason?: unknown): boolean {
    return engineOf(this).cancel(this.#entry, reason);
  }
}
