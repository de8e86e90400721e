import { Entry } from '../engine/entry.ts';
import type { LoadContext, TaskContext } from '../engine/load-context.ts';
import { Refresher } from '../engine/refresher.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { OptionChecks } from '../option-checks.ts';
import { resolveOptions, SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions } from '../options/shared-options.ts';
import { voided } from '../time/deferred.ts';
import { Periodic } from './periodic.ts';

/**
 * What is executed: synchronous or not. Throwing or rejecting fails the execution. What it returns is handed to the
 * schedule (`execution.result`) and held until the next execution; nothing else is done with it.
 */
export type Task = (context: TaskContext) => unknown;

/** The options of {@link PeriodicExecutor}; only `name` is required. */
export type PeriodicExecutorOptions = SingleSharedOptions;

/** The state of an executor at one instant. */
export type ExecutorStatus = ExecutionStatus;

/**
 * Runs a task when it is asked and due. Between executions nothing exists: no timer, no thread, no handle; the
 * process may end at any time.
 *
 * Call `requestStart` as often as you like, from request handlers or health checks. It compares two numbers;
 * only when the next execute time has passed does it start the task, once for all callers, behind them.
 *
 * ```ts
 * import { PeriodicExecutor } from 'tickless';
 *
 * const sessions = new Map([['a', { expiresAt: 0 }]]);
 * const cleaner = new PeriodicExecutor(
 *   () => {
 *     for (const [id, { expiresAt }] of sessions) if (expiresAt < Date.now()) sessions.delete(id);
 *   },
 *   { name: 'session-cleaner', schedule: { minutes: 5 } },
 * );
 * await cleaner.requestStart();
 * console.log(sessions.size); // 0
 * ```
 *
 * Subclasses may override `nextExecuteTime`; others pass `schedule`.
 */
export class PeriodicExecutor extends Periodic<unknown> {
  readonly #entry: Entry<unknown>;
  readonly #refresher: Refresher<unknown>;

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(task: Task, options: PeriodicExecutorOptions) {
    const kind = {
      names: [...SHARED, 'required'],
      check: (checks: OptionChecks) => checks.function('task', task),
    };
    const policy = { ...resolveOptions(options, kind), allowUndefined: true };
    const load = ({ previous: _, ...context }: LoadContext): unknown => task(context);
    const entry = new Entry<unknown>();
    const refresher = new Refresher(policy, load, (execution) => this.nextExecuteTime(execution));
    super(policy, entry, refresher);
    this.#entry = entry;
    this.#refresher = refresher;
  }

  /**
   * Executes now, due or not, also while paused or cooling down; joins the execution that runs, if one does.
   * Resolves with its success; rejects with `LoadError`, `LoadTimeoutError` or, after `close`, `ClosedError`.
   */
  execute(): Promise<void> {
    return voided(this.#refresher.refresh(this.#entry));
  }

  inspect(): ExecutorStatus {
    return this.#refresher.inspect(this.#entry);
  }
}
