import type { LockProvider } from '../cluster/lock-contract.ts';
import type { SnapshotStore } from '../cluster/store-contract.ts';
import type { WhenClosed, WhenTooStale } from '../engine/decide.ts';
import type { RetryOptions } from '../engine/retry.ts';
import type { GroupLike } from '../group/membership.ts';
import type { Logger } from '../observe/logger.ts';
import type { ScheduleLike } from '../schedule/schedule.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';

/**
 * Keeps the invocation alive until a promise settles, where a platform freezes it as soon as it has answered
 * (`ctx.waitUntil` of Cloudflare Workers, `waitUntil` of Vercel). The promise never rejects.
 */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** How long reads start no load after a failed one: exponential, jittered between half and all of it. */
export interface CoolDownOptions {
  /** The span after the first failure. Over 0, finite. @default 1 second */
  readonly initial?: DurationLike | undefined;
  /** What each further failure in a row multiplies the span by. 1 or more; 1: always the same. @default 2 */
  readonly factor?: number | undefined;
  /** The span never grows beyond this. At least `initial`, finite. @default 2 minutes, or `initial` if that is longer */
  readonly max?: DurationLike | undefined;
}

/** What becomes of a due execution when its lock can't be asked: it is executed without, or not at all. */
export type WhenLockUnavailable = 'load' | 'skip';

/** What all members of the family have in common. */
export interface SharedOptions {
  /** The name in errors, events, log lines and (in a cluster) the lock. Required, not empty. */
  readonly name: string;
  /**
   * When to execute next: a schedule (`dailyAt`, `cron`, …), a function of the last execution that returns epoch
   * milliseconds, or a duration, counted from the end of the last execution. It is asked after each success; after
   * a failure the cool-down decides. `Infinity` or `never`: only by `refresh`, `execute` and `invalidate`.
   * @default 10 minutes
   */
  readonly schedule?: ScheduleLike | undefined;
  /**
   * Tries inside one execution, with p-retry's own options; what is left out has p-retry's default (10 retries).
   * `undefined`: one try. p-retry does not retry a `TypeError` that is no network error. An error that carries
   * `Retry-After` is not tried again before that. All tries share the `timeout`.
   * @default undefined
   */
  readonly retry?: RetryOptions | undefined;
  /**
   * How long reads start no load after a failed execution. A duration is a constant span; it is jittered too. Never
   * nothing: 0 is an error. An error that carries `Retry-After` (up to a day) makes it at least that long.
   * `refresh()` and `execute()` pass over it.
   * @default { initial: 1 second, factor: 2, max: 2 minutes }
   */
  readonly coolDown?: DurationLike | CoolDownOptions | undefined;
  /**
   * The deadline of one execution over all its tries and pauses. Then its `signal` is aborted, the slot is free, and
   * a late result is dropped. Over 0; `Infinity`: none. It can't interrupt synchronous code, but in a thread
   * (`loadInWorker` of `tickless/worker`).
   * @default 30 seconds
   */
  readonly timeout?: DurationLike | undefined;
  /** Is given a promise for each background execution. Per read: the option of the same name. @default undefined */
  readonly waitUntil?: WaitUntil | undefined;
  /**
   * Where a failed background load (`warn`) and a misbehaving callback (`error`) are told, one line each. `false`:
   * nowhere. A listener to `load-failed` or `load-timed-out` replaces the line of that event.
   * @default console
   */
  readonly logger?: Logger | false | undefined;
  /** The clocks and timers; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, for jitter. Anything else is told to the logger and made up for. @default Math.random */
  readonly random?: (() => number) | undefined;
  /**
   * Lets one instance of the cluster load per round: `redisLock`, `postgresLock` and the like, or your own
   * `LockProvider`. The `name` is what is locked; of a cache each key has a lock of its own. With a `store` the others
   * take over what was loaded; without one they take turns at the source. A task is executed once per round of the
   * schedule in the whole cluster. @default undefined: each instance for itself
   */
  readonly lock?: LockProvider | undefined;
  /**
   * What becomes of a due execution when the lock can't be asked: `load` all the same, unpublished, or `skip` it, which
   * counts as a failure. @default 'load' for what holds values, 'skip' for tasks
   */
  readonly whenLockUnavailable?: WhenLockUnavailable | undefined;
  /**
   * The `RefreshGroup` that it belongs to: what is left out here is taken from there, the name must be the only one
   * of its kind there, and the group starts it with the others and closes it. @default undefined
   */
  readonly group?: GroupLike | undefined;
}

/** What those have in common that are started as one: a value, an executor. */
export interface SingleSharedOptions extends SharedOptions {
  /** `ready()` of the group waits for its first success. Only with `group`. @default false */
  readonly required?: boolean | undefined;
}

/** What all that hold values have in common. */
export interface ValueSharedOptions extends SharedOptions {
  /**
   * The greatest age, counted from the end of the load, at which a value may be served. Over 0, and not shorter
   * than a `schedule` that is given as a duration. `Infinity`: any age. At this age the value is due, whatever the
   * schedule says.
   * @default Infinity
   */
  readonly maxStaleness?: DurationLike | undefined;
  /**
   * What becomes of a read that meets an older value: `wait` for the reload (rejects with `StaleValueError` when
   * that fails or may not start; `current` can't wait and throws, unless the load is synchronous), `throw` a
   * `StaleValueError` at once while the reload runs behind, or `serve` it all the same (event `too-stale`).
   * @default 'wait'
   */
  readonly whenTooStale?: WhenTooStale | undefined;
  /**
   * What becomes of a read after `close()`: `serve` the last value, however old it gets within `maxStaleness`, or
   * `throw` a `ClosedError`, also where `peek` still has the value.
   * @default 'serve'
   */
  readonly whenClosed?: WhenClosed | undefined;
  /**
   * Where loaded values are put for the other instances, and for the next start: `redisStore`, `postgresStore` and the
   * like, or your own `SnapshotStore`. A cold instance serves what is there at once. Only what the store's codec can
   * take; `set` by hand stays here. @default undefined
   */
  readonly store?: SnapshotStore | undefined;
}

/** Every default that is not "nothing". Frozen. */
export const defaults: {
  readonly schedule: DurationLike;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly timeout: number;
  readonly maxStaleness: number;
  readonly whenTooStale: WhenTooStale;
  readonly whenClosed: WhenClosed;
  readonly closeTimeout: number;
  readonly max: number;
  readonly batchSize: number;
  readonly absentFor: number;
  readonly concurrency: number;
  readonly lookAhead: number;
  readonly readyTimeout: number;
} = Object.freeze({
  schedule: Object.freeze({ minutes: 10 }),
  coolDown: Object.freeze({ initial: 1000, factor: 2, max: 120_000 }),
  timeout: 30_000,
  maxStaleness: Number.POSITIVE_INFINITY,
  whenTooStale: 'wait',
  whenClosed: 'serve',
  closeTimeout: 10_000,
  max: 10_000,
  batchSize: Number.POSITIVE_INFINITY,
  absentFor: 60_000,
  concurrency: 4,
  lookAhead: 0,
  readyTimeout: 30_000,
});
