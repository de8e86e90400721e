import type { StoreLike } from '../engine/coordinator.ts';
import { Entry } from '../engine/entry.ts';
import { limitedLoad } from '../engine/limited-load.ts';
import type { TaskContext } from '../engine/load-context.ts';
import { MemberEngine } from '../engine/member-engine.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { OptionError } from '../errors.ts';
import { resolveOptions, SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions } from '../options/shared-options.ts';
import { voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { engineOf } from './lifecycle.ts';
import { entryOf, Periodic } from './periodic.ts';

/**
 * The function that is executed, synchronous or not. Throwing or rejecting fails the execution. Its result is passed to
 * the schedule (`execution.result`) and kept until the next execution; tickless does nothing else with it.
 */
export type Task = (context: TaskContext) => unknown;

/** The options of {@link PeriodicExecutor}; only `name` is required. */
export interface PeriodicExecutorOptions extends SingleSharedOptions {
  /**
   * Keeps what is set everywhere: `pause`, `resume` and `reschedule` with `everywhere`, which need a `lock` too. A task has no
   * value to be kept. `false`: none, also where the group has one. @default undefined: that of the group
   */
  readonly store?: StoreLike | false | undefined;
  /** Within what time that is learnt here, as `propagateWithin` of a value: each `requestStart` counts as a read. @default undefined: that of the group, then that of the store; without one it is not */
  readonly propagateWithin?: DurationLike | undefined;
}

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
  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(task: Task, options: PeriodicExecutorOptions) {
    if (options?.name === undefined && typeof task === 'object') throw taskFirst(task);
    const resolved = resolveOptions(options, {
      kind: 'task',
      names: [...SHARED, 'required', 'store', 'propagateWithin'],
      check: (checks) => checks.function('task', task),
    });
    const load = (context: TaskContext): unknown => task(context);
    const engine = new MemberEngine(resolved, limitedLoad(load, resolved), (execution) =>
      this.nextExecuteTime(execution),
    );
    super(resolved, new Entry<unknown>(), engine);
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
