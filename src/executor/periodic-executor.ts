import type { DurationLike } from '../duration.ts';
import type { EventOf, EventType } from '../observe/events.ts';
import { resolveOptions, type SharedOptions, type WaitUntil } from '../options.ts';
import type { Execution, ScheduleLike } from '../schedule/schedule.ts';
import { Entry } from './entry.ts';
import type { LoadContext, TaskContext } from './load-context.ts';
import { Refresher, voided } from './refresher.ts';
import type { ExecutionStatus } from './status.ts';

/**
 * What is executed: synchronous or not. Throwing or rejecting fails the execution. What it returns is handed to the
 * schedule (`execution.result`) and held until the next execution; nothing else is done with it.
 */
export type Task = (context: TaskContext) => unknown;

/** The options of {@link PeriodicExecutor}; only `name` is required. */
export type PeriodicExecutorOptions = SharedOptions;

/** What a caller may ask of one `requestStart`. */
export interface RequestStartOptions {
  /**
   * `true`: resolve when the execution that is due or under way has succeeded, reject with its error. `false`:
   * resolve at once. @default wait before the first success, don't after it
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

/** The state of an executor at one instant. */
export type ExecutorStatus = ExecutionStatus;

/**
 * Runs a task when it is asked and due. Between executions nothing exists: no timer, no thread, no handle; the
 * process may end at any time.
 *
 * Call {@link requestStart} as often as you like, from request handlers or health checks. It compares two numbers;
 * only when the next execute time has passed does it start the task, once for all callers, behind them.
 *
 * ```ts
 * import { PeriodicExecutor } from 'tickless';
 *
 * const cleaner = new PeriodicExecutor(({ signal }) => removeExpiredSessions(signal), {
 *   name: 'session-cleaner',
 *   schedule: { minutes: 5 },
 * });
 * await cleaner.requestStart();
 * ```
 *
 * Subclasses may override {@link nextExecuteTime}; others pass `schedule`.
 *
 * No promise that it returns becomes an unhandled rejection when it is dropped.
 */
export class PeriodicExecutor {
  readonly #entry: Entry<unknown> = new Entry();
  readonly #refresher: Refresher<unknown>;

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(task: Task, options: PeriodicExecutorOptions) {
    const policy = resolveOptions({ ...options, allowUndefined: true }, { option: 'task', received: task });
    const load = ({ previous: _, ...context }: LoadContext): unknown => task(context);
    this.#refresher = new Refresher(policy, load, (execution) => this.nextExecuteTime(execution));
  }

  /**
   * Starts the task if it is due and does not run.
   *
   * Before the first success it waits: for the end of the execution that it starts or finds running, and rejects
   * with its `LoadError` or `LoadTimeoutError`; while cooling down after a failure it rejects at once with
   * `CoolingDownError`, while paused with `NotLoadedError`. A synchronous task runs right here. After the first
   * success it resolves at once and the task runs behind. Concurrent callers share one execution, and its failure.
   *
   * Rejects with `ClosedError` after {@link close}.
   */
  requestStart(options: RequestStartOptions = {}): Promise<void> {
    return this.#refresher.requestStart(this.#entry, options.wait, options.waitUntil);
  }

  /**
   * Executes now, due or not, also while paused or cooling down; joins the execution that runs, if one does.
   * Resolves with its success; rejects with `LoadError`, `LoadTimeoutError` or, after {@link close}, `ClosedError`.
   */
  execute(): Promise<void> {
    return voided(this.#refresher.refresh(this.#entry));
  }

  /** The state at this instant. Starts nothing, never throws. */
  inspect(): ExecutorStatus {
    return this.#refresher.inspect(this.#entry);
  }

  /**
   * Replaces the schedule. The next execute time is computed anew from the last execution; an instant that has
   * passed is due. Running executions go on. Without effect on a subclass that overrides {@link nextExecuteTime}.
   *
   * @throws {OptionError} when it is no schedule; the old one stays.
   */
  reschedule(schedule: ScheduleLike): void {
    this.#refresher.reschedule(this.#entry, schedule);
  }

  /** Starts nothing until {@link resume}, but for {@link execute}. A running execution goes on. */
  pause(): void {
    this.#refresher.pause();
  }

  /** Ends {@link pause}: what fell due meanwhile starts at the next request, once. */
  resume(): void {
    this.#refresher.resume();
  }

  /**
   * Calls `listener` at each event of that type, synchronously, in the order of registration. One that throws is
   * logged and harms nobody.
   *
   * @returns the function that unsubscribes this listener.
   * @throws {OptionError} when there is no such type.
   */
  on<E extends EventType>(type: E, listener: (event: EventOf<E>) => void): () => void {
    return this.#refresher.events.on(type, listener);
  }

  /**
   * Starts nothing any more, waits for a running execution, and aborts it when `timeout` has passed (who waited for
   * it gets `ClosedError`). Every call returns the same promise; the options of the first count. Never rejects.
   *
   * @throws {OptionError} when `timeout` is no duration of 0 or more.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#refresher.close(options.timeout);
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
