/// <reference lib="esnext.disposable" preserve="true" />

import type { CloseReport } from '../data/close-report.ts';
import {
  BACKEND_RULE,
  type Backend,
  isBackend,
  isLock,
  LOCK_RULE,
  NO_PARTS,
  partsOf,
} from '../engine/backend.ts';
import type { LockLike } from '../engine/coordinator.ts';
import { callOwned, unlessOwn } from '../engine/own-load.ts';
import { isTicklessError, TicklessError } from '../errors.ts';
import { cutOffLine } from '../observe/cut-off-line.ts';
import { type Logger, messageOf, SafeLogger } from '../observe/logger.ts';
import {
  durationArgument,
  isNumber,
  isText,
  namesArgument,
  OptionChecks,
  ownOptions,
} from '../option-checks.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { ignoreThenable, voided } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { showDuration } from '../time/show-duration.ts';
import { acquireLease, TRIES } from './acquire-lease.ts';
import { accessOf, type BackendAccess, withStepTimeout } from './backend-access.ts';
import type { LockSteps } from './backend-steps.ts';
import { thisHost, thisProcess } from './identity.ts';
import { LeaseRequests } from './lease-requests.ts';
import type { LockProvider } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import { recordName } from './namespace.ts';
import { isRegistering, register } from './registration.ts';
import { RunningTasks, type TaskRun } from './running-tasks.ts';
import type { Store } from './store-contract.ts';
import { addRun } from './task-runs.ts';
import { LONGEST_STEP_MS, writeTimeoutMs } from './time-limits.ts';
import { unavailable } from './unavailable.ts';

/** The options of {@link lockedTask}. `name`, and `backend` or `lock`, are required. */
export interface LockedTaskOptions<A extends readonly unknown[] = readonly unknown[]> {
  /**
   * The name of the lock: the same on all instances. A function of the arguments of the call gives each piece of work a
   * lock of its own: `(tenant) => \`report of ${tenant}\``.
   */
  readonly name: string | ((...args: A) => string);
  /**
   * Has the lock, and keeps the last 20 runs of each name for operators: the console shows them. A run is written while
   * its lease is held, within the time-outs of the backend; where that fails the run is not recorded, and nothing else happens.
   */
  readonly backend?: Backend | undefined;
  /** In place of a `backend`: a lock of your own in `asLock` of `tickless/backend`, or a backend that keeps no runs, only the record of the last one. */
  readonly lock?: Backend | LockLike | undefined;
  /**
   * After this time the lock is free whatever the task does, and its `signal` is aborted; so it must be longer than the
   * task ever takes. The lease has the lock's `leaseFor`, and is extended while the task runs, up to this time: a crash
   * keeps other instances from running the task for `leaseFor` only. Over 0, at most 365 days.
   * @default the lock's `leaseFor`: it is not extended
   */
  readonly lockAtMostFor?: DurationLike | undefined;
  /**
   * No other instance runs the task before this time has passed, counted from the instant at which the task starts, by the
   * clock of the lock's backend. It should be longer than the
   * clocks and schedulers of the instances differ, and shorter than the time between two runs. Without it a
   * short task is run by each instance in turn. From 0 to `lockAtMostFor`. Of no effect where the task fails: another
   * instance may try at once. @default 0
   */
  readonly lockAtLeastFor?: DurationLike | undefined;
  /**
   * Logs one line where `close()` has aborted a run or left a lease (`warn`). Calls reject with their errors, which are not
   * logged. `false`: no line. @default console
   */
  readonly logger?: Logger | false | undefined;
  /** `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/** The first argument of a locked task; those of the call follow. */
export interface LockedContext {
  /** Aborted when the lease is lost or `lockAtMostFor` has passed, so that another instance may run the task; and by `close`. */
  readonly signal: AbortSignal;
  /** The fencing token: grows with each run in the cluster. */
  readonly token: number;
}

/** The outcome of one call. Contention is an answer, not an error. */
export type LockedOutcome<R = unknown> =
  | { readonly kind: 'executed'; readonly result: R; readonly token: number }
  | {
      /** It was not run here: another instance runs it (`held`), or has run it and `lockAtLeastFor` is not over (`already-done`). */
      readonly kind: 'held' | 'already-done';
      /** Milliseconds. */
      readonly retryAfter: number;
      readonly owner: string;
      readonly host: string;
    };

/** A guarded task, to be called by a scheduler. */
export interface LockedTask<A extends readonly unknown[], R> {
  /**
   * Runs the task with these arguments, if no other instance does. Rejects with the error of the task; with
   * `LEASE_LOST` where it succeeded after its lease was lost, so that another instance may have run it meanwhile; with
   * `BACKEND_DOWN` when the lock can't be asked, with `OPTION` when the name of these arguments is not a name,
   * and with `CLOSED` after {@link close}: the task was not run.
   */
  (...args: A): Promise<LockedOutcome<R>>;
  /**
   * Makes the record of the lock where there is none, so that operators see a task that has not run yet: `lock.list()` has
   * it with the state `registered`.
   * Without it the record is made by the first call. Rejects as a call does when the lock can't be asked.
   */
  register(...args: A): Promise<void>;
  /**
   * Starts no more runs, waits for those under way and the release of their leases, and aborts their `signal` after
   * `timeout`. Every call returns the same promise; the options of the first count. Resolves with the runs that were aborted, and
   * the leases that may still be held, of which there is one log line. Never rejects, but with `OPTION` for a
   * call of the task itself before its first `await`, which would wait for itself; it closes all the same.
   *
   * @throws {TicklessError} `OPTION` when `timeout` is not a duration of 0 or more, and for an unknown option.
   */
  close(options?: {
    /** 0: abort at once; `Infinity`: wait as long as they take. @default 10 seconds */
    readonly timeout?: DurationLike | undefined;
  }): Promise<CloseReport>;
  /** {@link close} with its defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Guards a function that a scheduler of yours runs on every instance (node-cron, croner, BullMQ, `setInterval`): it runs
 * on one of them at a time.
 *
 * ```ts
 * import { lockedTask } from 'tickless';
 * import { memoryBackend } from 'tickless/memory';
 *
 * const report = lockedTask(async (_context, tenant: string) => `report of ${tenant}`, {
 *   name: (tenant) => `report-${tenant}`,
 *   backend: memoryBackend(), // in production one that all instances share
 *   lockAtMostFor: { minutes: 10 },
 *   lockAtLeastFor: { minutes: 1 },
 * });
 * console.log((await report('nl')).kind); // executed
 * console.log((await report('nl')).kind); // already-done
 * await report.close();
 * ```
 *
 * Arguments of the call are passed on to the task, after the context. The lease is extended while the task runs, up to
 * `lockAtMostFor`.
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function lockedTask<R, A extends readonly unknown[] = []>(
  task: (context: LockedContext, ...args: A) => R | PromiseLike<R>,
  options: LockedTaskOptions<A>,
): LockedTask<A, R> {
  const {
    name,
    backend,
    lock: givenLock,
    lockAtMostFor,
    lockAtLeastFor = 0,
    logger = console,
    clock = systemClock,
  } = ownOptions(options ?? ({} as typeof options));
  const { lock, store } = (partsOf(backend, givenLock) ?? NO_PARTS) as {
    readonly lock: LockProvider;
    readonly store: Store | undefined;
  };
  const longestName = lock?.longestName ?? Infinity;
  const about = isText(name) ? name : 'lockedTask';
  const checks = new OptionChecks(about);
  checks.names('', options ?? {}, [
    'name',
    'backend',
    'lock',
    'lockAtMostFor',
    'lockAtLeastFor',
    'logger',
    'clock',
  ]);
  checks.function('task', task);
  if (typeof name !== 'function') checkName(checks, name, longestName);
  const isEither = (backend === undefined) !== (givenLock === undefined);
  checks.that(isEither, 'backend', 'must be given, or a lock in its place', backend);
  checks.that(backend === undefined || isBackend(backend), 'backend', BACKEND_RULE, backend);
  checks.that(givenLock === undefined || isLock(givenLock), 'lock', LOCK_RULE, givenLock);
  const leaseFor = lock?.leaseFor ?? 1;
  const atMostMs = checks.finiteDuration('lockAtMostFor', lockAtMostFor ?? leaseFor, LONGEST_LEASE_MS);
  const atLeastMs = checks.durationFromZero('lockAtLeastFor', lockAtLeastFor);
  const isWithin = !isNumber(atMostMs, 0, Infinity) || atLeastMs <= atMostMs;
  checks.that(isWithin, 'lockAtLeastFor', 'must not be longer than lockAtMostFor', lockAtLeastFor);
  if (logger !== false) checks.methods('logger', logger, ['warn', 'error']);
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  checks.done();
  const running = new RunningTasks(clock);
  const source = accessOf<LockSteps>(lock) as BackendAccess<LockSteps>;

  function nameOf(args: A): string {
    if (typeof name !== 'function') return recordName(name);
    const computed = ignoreThenable(name(...args));
    const found = new OptionChecks(about);
    checkName(found, computed, longestName);
    found.done();
    return recordName(computed);
  }

  async function asked<Answer>(lockName: string, step: () => Promise<Answer>): Promise<Answer> {
    try {
      return await step();
    } catch (cause) {
      throw isTicklessError(cause, 'OPTION') ? cause : unavailable(source.explain(cause), lockName);
    }
  }

  function acquire(lockName: string, leaseMs: number, owner: string): ReturnType<typeof acquireLease> {
    const wanted = { name: lockName, leaseFor: leaseMs, force: false, owner };
    const limits = { silenceMs: source.limitMs, mostMs: LONGEST_STEP_MS };
    const patience = { tries: TRIES, limits };
    return asked(lockName, () => acquireLease(source, wanted, new LeaseRequests(clock), clock, patience));
  }

  /** An instance that registers the name does not run the task: its lease is waited for. */
  async function acquireToRun(lockName: string): ReturnType<typeof acquireLease> {
    const until = clock.monotonic() + REGISTER_WAIT_MS;
    for (;;) {
      const found = await acquire(lockName, Math.min(leaseFor, atMostMs), thisProcess());
      const { answer } = found;
      const isToRun = answer.kind !== 'held' || !isRegistering(answer);
      if (isToRun || clock.monotonic() >= until) return found;
      const pauseMs = Math.min(answer.retryAfter, REGISTER_PAUSE_MS);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, pauseMs).ref());
    }
  }

  async function runOnce(lockName: string, args: A, run: TaskRun): Promise<LockedOutcome<R>> {
    const { controller } = run;
    const { answer, sentAt } = await acquireToRun(lockName);
    if (answer.kind !== 'acquired') {
      const { kind, retryAfter, owner, host } = answer;
      return { kind: kind === 'done' ? 'already-done' : kind, retryAfter, owner, host };
    }
    const { held: lease } = answer;
    run.lease = lease;
    const { token } = lease.id;
    const until = sentAt + atMostMs;
    const lost = (cause?: unknown): TicklessError => {
      const isOverdue = clock.monotonic() >= until;
      const why = `it ran longer than lockAtMostFor of ${showDuration(atMostMs)}`;
      const message = isOverdue ? why : 'the lease is lost while it ran';
      return new TicklessError('LEASE_LOST', message, { member: lockName, cause });
    };
    const record = async (error?: string): Promise<void> => {
      if (store === undefined || lease.isLost) return;
      const took = clock.monotonic() - sentAt;
      const ended =
        error === undefined ? { outcome: 'loaded' as const } : { outcome: 'failed' as const, error };
      const taskRun = { startedAt: answer.now, took, ...ended, token, host: thisHost() };
      const limitMs = accessOf(store)?.limitMs ?? LONGEST_STEP_MS;
      await withStepTimeout(
        () => addRun(store, lockName, taskRun),
        clock,
        limitMs + writeTimeoutMs(limitMs),
      ).catch(() => {});
    };
    lease.renew((_, cause) => controller.abort(lost(cause)), until);
    try {
      controller.signal.throwIfAborted(); // closed meanwhile
      const startedAt = clock.monotonic(); // the answer of the lock may have been on its way for long
      const context = { signal: controller.signal, token };
      const result = await callOwned([running], () => task(context, ...args));
      if (lease.isLost) throw lost();
      await record();
      const left = (): number => Math.max(0, startedAt + atLeastMs - clock.monotonic());
      await lease.release(() => ({ as: 'done', holdFor: left() }));
      return { kind: 'executed', result, token };
    } catch (error) {
      const message = messageOf(error);
      await record(message);
      await lease.release(() => ({ as: 'failed', holdFor: 0, error: message }));
      throw error;
    }
  }

  function closed(): TicklessError {
    return new TicklessError('CLOSED', 'is closed and starts no more runs', { member: about });
  }

  async function run(...args: A): Promise<LockedOutcome<R>> {
    if (running.isClosed) throw closed();
    const lockName = nameOf(args);
    return running.track(lockName, (run) => runOnce(lockName, args, run));
  }

  async function registerName(...args: A): Promise<void> {
    if (running.isClosed) throw closed();
    const lockName = nameOf(args);
    await register({
      leaseFor,
      inspect: () =>
        asked(lockName, () => withStepTimeout(() => lock.inspect(lockName), clock, source.limitMs)),
      acquire: async (leaseMs, owner) => {
        const { answer } = await acquire(lockName, leaseMs, owner);
        return answer.kind === 'acquired' ? answer.held : undefined;
      },
    });
  }

  function close(given?: { readonly timeout?: DurationLike | undefined }): Promise<CloseReport> {
    namesArgument(about, given, ['timeout']);
    const timeoutMs = durationArgument(about, 'timeout', ownOptions(given)?.timeout ?? CLOSE_TIMEOUT_MS);
    const isFirst = !running.isClosed;
    const closing = running.close(timeoutMs, closed);
    if (isFirst) void closing.then((report) => logCutOff(cutOffLine(report, timeoutMs, 'run')));
    return unlessOwn([running], about, closing);
  }

  function logCutOff(line: string | undefined): void {
    if (line !== undefined) new SafeLogger(about, logger).warn(line);
  }

  return Object.assign(run, { register: registerName, close, [Symbol.asyncDispose]: () => voided(close()) });
}

/** The same as of values and groups. */
const CLOSE_TIMEOUT_MS = 10_000;

/** How long a run waits for one that registers the name, and before it asks again, in milliseconds. */
const REGISTER_WAIT_MS = 1000;
const REGISTER_PAUSE_MS = 50;

function checkName(checks: OptionChecks, name: unknown, longest: number): void {
  checks.name('name', name);
  const isShort = !isText(name) || new TextEncoder().encode(recordName(name)).length <= longest;
  checks.that(isShort, 'name', `must be at most ${longest} bytes long`, name);
}
