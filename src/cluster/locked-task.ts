import { isLockUnavailableError, isOptionError, LeaseLostError, LockUnavailableError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber, isText, OptionChecks } from '../option-checks.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import { showDuration } from '../time/show-duration.ts';
import { acquireLease, TRIES } from './acquire-lease.ts';
import { accessOf } from './backend-access.ts';
import type { LockSteps } from './cluster-member.ts';
import type { LockProvider } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import { PendingRequest } from './pending-request.ts';

/** The options of {@link lockedTask}. `name` and `lock` are required. */
export interface LockedTaskOptions {
  /** The name of the lock: the same on all instances. */
  readonly name: string;
  readonly lock: LockProvider;
  /**
   * After this time the lock is free whatever the task does, and its `signal` is aborted. A crash keeps other instances
   * from running the task for this time. It is not extended, so it must be longer than the task ever takes. Over 0, at
   * most 365 days.
   * @default the lock's `leaseFor`
   */
  readonly lockAtMostFor?: DurationLike | undefined;
  /**
   * No other instance runs the task before this time, counted from the start, has passed. It should be longer than the
   * clocks and schedulers of the instances differ, and shorter than the time between two runs. Without it a
   * short task is run by each instance in turn. From 0 to `lockAtMostFor`. Of no effect where the task fails: another
   * instance may try at once. @default 0
   */
  readonly lockAtLeastFor?: DurationLike | undefined;
  /** `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/** The argument of a locked task. */
export interface LockedContext {
  /** Aborted after `lockAtMostFor`: another instance may run the task by then. */
  readonly signal: AbortSignal;
  /** The fencing token: grows with each run in the cluster. */
  readonly token: number;
}

/** The outcome of one call. Contention is an answer, not an error. */
export type LockedOutcome<R = unknown> =
  | { readonly kind: 'executed'; readonly result: R; readonly token: number }
  | {
      /** Another instance runs it (`held`), or has run it and `lockAtLeastFor` is not over (`done`). */
      readonly kind: 'held' | 'done';
      /** Milliseconds. */
      readonly retryAfter: number;
      readonly owner: string;
      readonly host: string;
    };

/**
 * Guards a function that a scheduler of yours runs on every instance (node-cron, croner, BullMQ, `setInterval`): it runs
 * on one of them at a time.
 *
 * ```ts
 * import { lockedTask } from 'tickless';
 * import { memoryLock } from 'tickless/lock/memory';
 *
 * const nightly = lockedTask(async () => 'report sent', {
 *   name: 'nightly-report',
 *   lock: memoryLock(), // in production one that all instances share
 *   lockAtMostFor: { minutes: 10 },
 *   lockAtLeastFor: { minutes: 1 },
 * });
 * console.log((await nightly()).kind); // executed
 * console.log((await nightly()).kind); // done
 * ```
 *
 * The function that it returns resolves with the outcome of the call. It rejects with the error of the task; with
 * `LeaseLostError` where the task succeeded after `lockAtMostFor`, so that another instance may have run it meanwhile; with
 * `LockUnavailableError` when the lock can't be asked, and the task was not run.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function lockedTask<R>(
  task: (context: LockedContext) => R | PromiseLike<R>,
  options: LockedTaskOptions,
): () => Promise<LockedOutcome<R>> {
  const { name, lock, lockAtMostFor, lockAtLeastFor = 0, clock = systemClock } = options ?? {};
  const isNamed = isText(name);
  const checks = new OptionChecks(isNamed ? name : 'lockedTask');
  checks.names('', options ?? {}, ['name', 'lock', 'lockAtMostFor', 'lockAtLeastFor', 'clock']);
  checks.function('task', task);
  checks.name('name', name);
  checks.methods('lock', lock, ['acquire', 'extend', 'release']);
  const atMostMs = checks.finiteDuration(
    'lockAtMostFor',
    lockAtMostFor ?? lock?.leaseFor ?? 1,
    LONGEST_LEASE_MS,
  );
  const atLeastMs = checks.durationFromZero('lockAtLeastFor', lockAtLeastFor);
  const isWithin = !isNumber(atMostMs, 0, Infinity) || atLeastMs <= atMostMs;
  checks.that(isWithin, 'lockAtLeastFor', 'must not be longer than lockAtMostFor', lockAtLeastFor);
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  const longest = lock?.longestName ?? Infinity;
  const isShort = !isNamed || new TextEncoder().encode(name).length <= longest;
  checks.that(isShort, 'name', `must be at most ${longest} bytes long`, name);
  checks.done();

  async function acquire(): ReturnType<typeof acquireLease> {
    const wanted = { name, leaseFor: atMostMs, force: false };
    try {
      return await acquireLease(
        accessOf<LockSteps>(lock) ?? { steps: lock, limitMs: Infinity, behindMs: Infinity },
        wanted,
        new PendingRequest(),
        clock,
        { tries: TRIES },
      );
    } catch (cause) {
      if (isOptionError(cause) || isLockUnavailableError(cause)) throw cause;
      const message = `the lock is unavailable: ${messageOf(cause)}`;
      throw new LockUnavailableError(message, { cacheName: name, cause });
    }
  }

  return async () => {
    const { answer, sentAt } = await acquire();
    if (answer.kind !== 'acquired') {
      const { kind, retryAfter, owner, host } = answer;
      return { kind, retryAfter, owner, host };
    }
    const { held: lease } = answer;
    const { token } = lease.id;
    const controller = new AbortController();
    const lost = (): LeaseLostError =>
      new LeaseLostError(`it ran longer than lockAtMostFor of ${showDuration(atMostMs)}`, {
        cacheName: name,
        token,
      });
    lease.stop(() => controller.abort(lost())); // not extended
    try {
      const result = await task({ signal: controller.signal, token });
      if (lease.isLost) throw lost();
      const startedAt = sentAt;
      const left = (): number => Math.max(0, startedAt + atLeastMs - clock.monotonic());
      await lease.release(() => ({ as: 'done', holdFor: left() }));
      return { kind: 'executed', result, token };
    } catch (error) {
      const message = messageOf(error);
      await lease.release(() => ({ as: 'failed', holdFor: 0, error: message }));
      throw error;
    }
  };
}
