/// <reference lib="esnext.disposable" preserve="true" />

import {
  type LockedContext,
  type LockedTask,
  type LockedTaskOptions,
  lockedTask,
} from '../cluster/locked-task.ts';
import { type CloseReport, closeReport } from '../data/close-report.ts';
import { isLockUnavailableError } from '../errors.ts';
import { messageOf, SafeLogger } from '../observe/logger.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { taskOnStack } from './locked-context.ts';

/** The options of {@link lockedScheduler}: those of `lockedTask`, for all jobs. `backend` or `lock`, and `lockAtLeastFor`, are required. */
export interface LockedSchedulerOptions extends Omit<LockedTaskOptions, 'name' | 'lockAtLeastFor'> {
  /**
   * No other instance runs the same job before this time has passed. Required: it should be longer than the clocks of the
   * instances differ, and shorter than the time between two runs of any job.
   */
  readonly lockAtLeastFor: DurationLike;
}

/** A scheduler whose jobs are locked. */
export interface LockedScheduler<S> {
  /** To be used in place of the scheduler that was given. */
  readonly scheduler: S;
  /** Closes the tasks behind all its jobs, as `close` of `lockedTask`. It does not stop the scheduler: stop that before. */
  close(options?: { readonly timeout?: DurationLike | undefined }): Promise<CloseReport>;
  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The functions of node-cron that make a job. A class, as that of croner, makes one with `new`. */
const MAKE_JOBS: readonly PropertyKey[] = ['schedule', 'createTask'];

/**
 * Wraps a whole scheduler that runs on every instance of a service, so that each of its jobs runs on one instance a round: the class
 * `Cron` of croner, or the object of node-cron. Jobs need a `name`, which is the name of the lock.
 *
 * ```ts
 * import { Cron } from 'croner';
 * import { lockedContext, lockedScheduler } from 'tickless';
 * import { memoryBackend } from 'tickless/memory';
 *
 * const locked = lockedScheduler(Cron, {
 *   backend: memoryBackend(), // in production one that all instances share
 *   lockAtMostFor: '10m',
 *   lockAtLeastFor: '30s',
 * });
 * const job = new locked.scheduler('0 5 * * *', { name: 'reports' }, async () => {
 *   console.log('reports', lockedContext().signal.aborted);
 * });
 * await job.trigger(); // reports false
 * job.stop();
 * await locked.close();
 * ```
 *
 * A job gets the arguments of its scheduler, and has `signal` and `token` by `lockedContext()`. Where another instance runs it or has just run
 * it, nothing happens. Errors of the job go to the scheduler; a lock that can't be asked is logged (`warn`), and the job is not run.
 *
 * A job without a `name`, or without a function when it is made, throws an `OptionError`.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function lockedScheduler<S extends object>(
  scheduler: S,
  options: LockedSchedulerOptions,
): LockedScheduler<S> {
  const ofTasks = ownOptions(options ?? ({} as LockedSchedulerOptions));
  const checks = new OptionChecks('lockedScheduler');
  const isScheduler = typeof scheduler === 'function' || typeof scheduler === 'object';
  checks.that(isScheduler && scheduler !== null, 'scheduler', 'must be a class or an object', scheduler);
  checks.that(
    ofTasks.lockAtLeastFor !== undefined,
    'lockAtLeastFor',
    'must be given',
    ofTasks.lockAtLeastFor,
  );
  checks.done();
  const { logger = console } = ofTasks;
  const tasks = new Set<LockedTask<unknown[], unknown>>();

  function locked(name: string, job: Job): Job {
    const run = (context: LockedContext, ...args: unknown[]): unknown =>
      taskOnStack.run(context, () => job(...args));
    const task = lockedTask(run, { ...ofTasks, name } as LockedTaskOptions<unknown[]>);
    tasks.add(task);
    const log = new SafeLogger(name, logger);
    return async (...args) => {
      try {
        const outcome = await task(...args);
        return outcome.kind === 'executed' ? outcome.result : undefined;
      } catch (error) {
        if (!isLockUnavailableError(error)) throw error;
        log.warn(`is not run: ${messageOf(error)}`);
        return undefined;
      }
    };
  }

  /** The arguments with which a scheduler makes a job: one is the function, one has the name. */
  function lockedArguments(args: readonly unknown[]): unknown[] {
    const at = args.findIndex((one) => typeof one === 'function');
    const { name } = args.find(isNamed) ?? {};
    const ofJob = new OptionChecks('lockedScheduler');
    ofJob.name('name', name);
    ofJob.that(at >= 0, 'job', 'must be a function that is given with its schedule', args[at]);
    ofJob.done();
    return args.map((one, index) => (index === at ? locked(name as string, one as Job) : one));
  }

  const wrapped = new Proxy(scheduler, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target as Constructor, lockedArguments(args), newTarget),
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || !MAKE_JOBS.includes(key)) return member;
      return (...args: unknown[]): unknown => member.apply(target, lockedArguments(args));
    },
  });
  const close: LockedScheduler<S>['close'] = async (given) =>
    closeReport(...(await Promise.all([...tasks].map((task) => task.close(given)))));
  return { scheduler: wrapped, close, [Symbol.asyncDispose]: () => voided(close()) };
}

type Job = (...args: unknown[]) => unknown;
type Constructor = new (...args: unknown[]) => object;

function isNamed(one: unknown): one is { readonly name: unknown } {
  return typeof one === 'object' && one !== null && 'name' in one;
}
