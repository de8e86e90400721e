import { Entry } from '../engine/entry.ts';
import { limitedLoad } from '../engine/limited-load.ts';
import type { TaskContext } from '../engine/load-context.ts';
import { MemberEngine } from '../engine/member-engine.ts';
import { coolingDownError } from '../engine/read-errors.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { OptionError } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';
import { resolveOptions, SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions } from '../options/shared-options.ts';
import { voided } from '../time/deferred.ts';
import { engineOf } from './lifecycle.ts';
import { entryOf, Periodic, type RequestStartOptions } from './periodic.ts';

/**
 * The function that is executed, synchronous or not. Throwing or rejecting fails the execution. Its result is passed to
 * the schedule (`execution.result`) and kept until the next execution; tickless does nothing else with it.
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
  /** A run has failed on the stack of `requestStart`. */
  #failsOnStack: boolean = false;

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(task: Task, options: PeriodicExecutorOptions) {
    if (options?.name === undefined && typeof task === 'object') throw taskFirst(task);
    const resolved = resolveOptions(options, {
      kind: 'task',
      names: [...SHARED, 'required'],
      check: (checks) => checks.function('task', task),
    });
    const load = (context: TaskContext): unknown => task(context);
    const engine = new MemberEngine(resolved, limitedLoad(load, resolved), (execution) =>
      this.nextExecuteTime(execution),
    );
    super(resolved, new Entry<unknown>(), engine);
  }

  /**
   * As of values, but that a synchronous task whose first run fails on the caller's stack makes this throw that `LoadError`, and in the
   * cool-down after it a `CoolingDownError`: so a getter that calls this, and awaits nothing, never returns what the task has not made. With
   * `wait: false` it doesn't throw. A run that fails later, as that of an asynchronous task and one with a `lock`, rejects.
   */
  override requestStart(options?: RequestStartOptions): Promise<void> {
    const [entry, engine] = [entryOf(this), engineOf(this)];
    const { failures } = entry;
    const next = super.requestStart(options);
    if (entry.isLoaded || entry.flight !== undefined || engine.runState !== 'open') return next;
    if (ownOptions(options)?.wait === false) return next;
    const isNew = entry.failures > failures;
    this.#failsOnStack ||= isNew;
    if (!this.#failsOnStack) return next;
    const { name, clock } = engine.options;
    throw isNew ? entry.lastError : coolingDownError(entry, name, clock.monotonic());
  }

  /**
   * Executes now, due or not, also while paused or cooling down; joins the execution that runs, if one does.
   * Resolves with its success; rejects with `LoadError`, `LoadTimeoutError` or, after `close`, `ClosedError`.
   */
  execute(): Promise<void> {
    return voided(engineOf(this).refresh(entryOf(this)));
  }

  inspect(): ExecutorStatus {
    return engineOf(this).inspect(entryOf(this));
  }
}

function taskFirst(received: unknown): OptionError {
  const rule = 'must come first, before the options: new PeriodicExecutor(task, { name })';
  return new OptionError([{ option: 'task', rule, received }], { cacheName: 'tickless' });
}
