import type { ExecutorRun } from '../data/executor-run.ts';
import { decide, isTooStale, type WhenFailing, type WhenTooStale } from '../engine/decide.ts';
import { Entry } from '../engine/entry.ts';
import type { TaskContext } from '../engine/load-context.ts';
import { MemberEngine } from '../engine/member-engine.ts';
import { limitedLoad } from '../engine/own-load.ts';
import { coolingDownError, isFailedLoad, readError } from '../engine/read-errors.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { TicklessError } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { isDevelopment } from '../options/development.ts';
import { resolveOptions, SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions } from '../options/shared-options.ts';
import { isCalendar } from '../schedule/calendar.ts';
import { ignoreRejection, voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { engineOf, entryOf, Periodic, type RequestStartOptions } from './lifecycle.ts';
import { RunLog } from './run-log.ts';

/**
 * The function that is executed, synchronous or not. Throwing or rejecting fails the execution. Its result is passed to
 * the schedule (`execution.result`) and kept until the next execution; tickless does nothing else with it.
 */
export type Task = (context: TaskContext) => unknown;

/**
 * The options of {@link PeriodicExecutor}; only `name` is required. `maxStaleness`, `whenTooStale` and `whenFailing` of its
 * group are for values: a task has its own.
 */
export interface TaskOptions extends SingleSharedOptions {
  /**
   * The longest time since the last success. Beyond it `whenTooStale` decides on `requestStart()`, the health of a group has the problem
   * `too-stale`, and the task is due, whatever the schedule says. Longer than a `schedule` that is a duration. @default Infinity
   */
  readonly maxStaleness?: DurationLike | undefined;
  /**
   * A `requestStart()` without `wait`, too long since the last success: `wait` waits for the run and rejects with `TOO_STALE` when that
   * fails or may not start, `throw` rejects with it at once while the run goes on behind.
   * @default 'wait'
   */
  readonly whenTooStale?: WhenTooStale | undefined;
  /**
   * A `requestStart()` without `wait`, after a run that has failed: `serve` resolves at once; `throw` rejects with the error of that run
   * until one has succeeded. The first request after the cool-down starts the next run behind it. @default 'serve'
   */
  readonly whenFailing?: WhenFailing | undefined;
  /**
   * When a task that has not run in this process is due: `now`, at the first request; `scheduled`, when its schedule says, which counts from
   * when the executor was made. With `dailyAt('05:00')` and `now` each start of the process runs the task, at any hour: right where it fills
   * memory, wrong for a mail. With `scheduled` a run that no process was there for is not made up for, and `requestStart()` and `ready()` of
   * a group resolve at once until it is due; `maxStaleness` counts from when the executor was made. `execute()` runs it at any time. A broken
   * schedule is a failure, as after a run. @default 'now'
   */
  readonly firstRun?: 'now' | 'scheduled' | undefined;
}

/** The state of an executor at one instant. */
export type ExecutorStatus = ExecutionStatus;

const FIRST_RUN_ADVICE =
  "advice: the first request after each start runs the task, at any hour. Write firstRun: 'scheduled', or firstRun: 'now' where that is meant";

/** Those of a group are for its values. */
const OWN_ONLY = ['maxStaleness', 'whenTooStale', 'whenFailing'] as const;

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
  readonly #runs: RunLog;

  /** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
  constructor(task: Task, options: TaskOptions) {
    if (options?.name === undefined && typeof task === 'object') throw taskFirst(task);
    const { firstRun } = ownOptions(options) ?? {};
    const resolved = resolveOptions(options, {
      kind: 'task',
      names: [...SHARED, 'required', 'firstRun', ...OWN_ONLY],
      ownOnly: OWN_ONLY,
      check: (checks) => {
        checks.function('task', task);
        if (firstRun !== undefined) checks.oneOf('firstRun', firstRun, ['now', 'scheduled']);
      },
    });
    const load = (context: TaskContext): unknown => task(context);
    const engine = new MemberEngine(resolved, limitedLoad(load, resolved), (execution) =>
      this.nextExecuteTime(execution),
    );
    const entry = new Entry<unknown>(undefined, undefined, resolved.maxStalenessMs);
    if (firstRun === 'scheduled') {
      entry.putValue(undefined, true);
      engine.timing.firstScheduled(entry);
    }
    super(resolved, entry, engine);
    engine.follow(entry);
    const isUnsaid = firstRun === undefined && isCalendar(resolved.schedule);
    if (isUnsaid && isDevelopment()) resolved.logger.warn(FIRST_RUN_ADVICE);
    this.#runs = new RunLog({
      shared: engine.coordinator?.runs,
      untilClosed: (work) => void engine.untilClosed(work),
    });
    engine.events.executions.onEnd = (execution) => this.#runs.add(execution);
  }

  /**
   * Starts the task if it is due, as `requestStart` of a value does. Exception: until the first success a synchronous task that fails on the
   * caller's stack makes this call throw the `LOAD_FAILED` error instead of rejecting with it; during the cool-down it throws `COOLING_DOWN`.
   * A getter that calls this without `await` therefore never returns something that the task has not made. With `wait: false` nothing is
   * thrown. A run that fails later, of an asynchronous task or with a `lock`, rejects.
   *
   * After the first success, and without `wait`, `whenTooStale` and `whenFailing` may make it wait or reject.
   */
  override requestStart(options?: RequestStartOptions): Promise<void> {
    try {
      const next = entryOf(this).isLoaded ? this.#requestNext(options) : this.#requestFirst(options);
      next.catch((error) => this.#refused(error));
      return next;
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  #refused(error: unknown): void {
    engineOf(this).reporter.refused(entryOf(this), error, 1);
  }

  #requestFirst(options: RequestStartOptions | undefined): Promise<void> {
    const [entry, engine] = [entryOf(this), engineOf(this)];
    const { failures } = entry;
    const next = super.requestStart(options);
    if (entry.isLoaded || entry.flight !== undefined || engine.runState !== 'open') return next;
    if (ownOptions(options)?.wait === false) return next;
    const isNew = entry.failures > failures;
    this.#failsOnStack ||= isNew;
    if (!this.#failsOnStack) return next;
    throw isNew ? entry.lastError : coolingDownError(entry, engine.options);
  }

  /** Decides on a request as on a read of a value, with no value to serve. */
  #requestNext(options: RequestStartOptions | undefined): Promise<void> {
    const [entry, engine] = [entryOf(this), engineOf(this)];
    const isPlain = ownOptions(options)?.wait === undefined && engine.runState !== 'closed';
    if (!isPlain) return super.requestStart(options);
    const { options: own, rules, events } = engine;
    const now = own.clock.monotonic();
    engine.compareClocks(entry, now);
    if (isTooStale(entry, now)) {
      const [age, maxStaleness] = [now - entry.loadedAt, entry.maxStalenessMs];
      events.emit('too-stale', { age, maxStaleness });
    }
    const refusal = (): Error => readError(entry, { ...rules, isTask: true }, own);
    switch (decide(entry, rules, now)) {
      case 'wait-for-load': {
        const next = super.requestStart({ ...options, wait: true });
        const refuse = (error: unknown): never => {
          throw isFailedLoad(error) ? refusal() : error;
        };
        return ignoreRejection(next.catch(refuse));
      }
      case 'reject':
      case 'reject-and-start': {
        const error = refusal();
        const refuse = (): never => {
          throw error;
        };
        return ignoreRejection(super.requestStart(options).then(refuse));
      }
      default:
        return super.requestStart(options);
    }
  }

  /**
   * Executes now, due or not, also while paused or cooling down; joins the execution that runs, if one does.
   * Resolves with its success; rejects with `LOAD_FAILED`, `TIMED_OUT` or, after `close`, `CLOSED`.
   */
  execute(): Promise<void> {
    return voided(engineOf(this).refresh(entryOf(this)));
  }

  /**
   * Its last runs that have ended, newest first: when each began, how long it took, its result, error, host and token. With a lock of a
   * backend those of all instances, else those of this one, since it was made. Executions in which the task was not called are not among
   * them. Runs nothing.
   *
   * Rejects with `BACKEND_DOWN` when they are at a backend that can't be asked. A run that can't be written there is not recorded.
   */
  runs(): Promise<readonly ExecutorRun[]> {
    return ignoreRejection(this.#runs.runs());
  }

  inspect(): ExecutorStatus {
    return engineOf(this).inspect(entryOf(this));
  }
}

function taskFirst(received: unknown): TicklessError {
  const rule = 'must come first, before the options: new PeriodicExecutor(task, { name })';
  return optionError([{ option: 'task', rule, received }], { member: 'tickless' });
}
