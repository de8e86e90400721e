import type { Backend } from '../engine/backend.ts';
import type { LockLike } from '../engine/coordinator.ts';
import type { WhenFailing, WhenTooStale } from '../engine/decide.ts';
import type { WhenBackendDown } from '../engine/resolved-options.ts';
import type { RetryOptions } from '../engine/retry.ts';
import type { Logger } from '../observe/logger.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import type { ScheduleLike } from '../schedule/schedule.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import type { GroupLike } from './group-handle.ts';

/** How long reads start no load after a failed one: exponential, jittered between half and all of it. */
export interface CoolDownOptions {
  /** The span after the first failure. Over 0, finite. @default 1 second */
  readonly initial?: DurationLike | undefined;
  /** Each further failure in a row multiplies the span by this. 1 or more; 1: always the same. @default 2 */
  readonly factor?: number | undefined;
  /**
   * The span never grows beyond this. At least `initial`, finite.
   * @default 2 minutes, or a `schedule` that is a shorter duration (but not under 1 second): after an outage a value is
   *   fresh again within one period. `initial` if that is longer
   */
  readonly max?: DurationLike | undefined;
}

/** The options of all members: values, caches and executors. */
export interface SharedOptions {
  /**
   * The name in errors, events, log lines and (in a cluster) of the lock and the snapshot: the same on all instances of a
   * service, and no other value, cache or task on the same backend may have it. Where services share a server, give the backend of each
   * a `namespace`. Required, not empty.
   */
  readonly name: string;
  /**
   * When to execute next: a schedule (`dailyAt`, `cron`, …), a function of the last execution that returns epoch
   * milliseconds, or a duration, counted from the end of the last execution. It is asked after each success; after
   * a failure the cool-down decides. `Infinity`: only by `refresh`, `execute` and `invalidate`.
   * @default 10 minutes
   */
  readonly schedule?: ScheduleLike | undefined;
  /**
   * Tries inside one execution. By default a lost connection or another blip is bridged: two more tries, after 250 to 500
   * ms and 500 ms to 1 s; but one try per execution while the last one failed, so an outage costs one call per cool-down;
   * and none after a synchronous load that throws on the caller's stack, as `current` runs it. `false`: one try.
   *
   * An object: options of p-retry, for each execution, merged over the default: `{ minTimeout: 1000 }` is two tries more too.
   * p-retry does not retry a `TypeError` that is not a network error. After an error that carries `Retry-After` the next
   * try waits at least that long. All tries share the `timeout`.
   * @default { retries: 2, minTimeout: 250 ms, factor: 2, randomize: true }, while the last execution did not fail
   */
  readonly retry?: RetryOptions | false | undefined;
  /**
   * How long reads start no load after a failed execution. A duration is a constant span; it is jittered too. 0 is an
   * error: there always is a cool-down. An error that carries `Retry-After` (up to a day) makes it at least that long.
   * `refresh()` and `execute()` ignore it.
   * @default { initial: 1 second, factor: 2, max: 2 minutes, or the time from a load to the next due time if that is shorter, but at least 1 second }
   */
  readonly coolDown?: DurationLike | CoolDownOptions | undefined;
  /**
   * The deadline of one execution over all its tries and pauses. At the deadline its `signal` is aborted and the slot is
   * free; a late result is dropped. Over 0; `Infinity`: none. It can't interrupt synchronous code, except in a thread
   * (`loadInWorker` of `tickless/worker`).
   * @default 30 seconds
   */
  readonly timeout?: DurationLike | undefined;
  /**
   * Receives a promise for each background execution; with a lock or a store for each execution, because what one has loaded
   * is published behind the caller that waits for it, and for each check of the store (`propagateWithin`). It never rejects.
   * Per read: the option of the same name, also for a load that the read waits for.
   * @default undefined
   */
  readonly waitUntil?: WaitUntil | undefined;
  /**
   * Logs outages of loads, of the lock and of the store (`warn`): one line when one begins, at most one a minute while it
   * lasts, one when it is over, all keys of a cache together; and errors of your callbacks (`error`). An error that a
   * waiting caller gets needs no line. `false`: no lines. Listeners change nothing of it.
   * @default console
   */
  readonly logger?: Logger | false | undefined;
  /**
   * The clocks and timers; `FakeClock` of `tickless/testing` in tests. While one of its methods throws or returns what it must not, its error
   * is logged and the machine's time passes instead. @default the machine's
   */
  readonly clock?: Clock | undefined;
  /** Returns numbers from 0 to below 1, for jitter. Any other result is logged and replaced. @default Math.random */
  readonly random?: (() => number) | undefined;
  /**
   * One instance of the cluster loads per round, and the others adopt its result; a cold instance serves the value that is there at
   * once; a task is executed once per round of the schedule in the whole cluster. Made by `redisBackend({ client })` of `tickless/redis`
   * and the like, or by `createBackend` of `tickless/backend`. It has a record for the `name`; of a cache one for each key. Its codec must
   * be able to encode the value. All members that use one backend object share its connection limit and its circuit breaker. `false`:
   * none, also where the group has one. `'group'`: that of the group, which has to have one.
   * @default undefined: for values and executors that of the group, and without one each instance for itself; for caches none. A cache
   *   takes part only where it says so, since each of its keys has a lease and a snapshot of its own at the backend, which keeps them for days
   */
  readonly backend?: Backend | 'group' | false | undefined;
  /**
   * Instances take turns at the source, and each loads its own value: none is shared. A task is executed once per round of the schedule in
   * the whole cluster. A backend, of which only the lock is used, or a lock of your own in `asLock` of `tickless/backend`. In place of
   * `backend`, also of that of the group. @default undefined: see `backend`
   */
  readonly lock?: Backend | LockLike | undefined;
  /**
   * Within what time changes of other instances are taken over here: values that they have loaded, set or rolled back, and
   * marks of `invalidate`. Reads start a check of the store behind them, one command for all members that use the store object, at
   * most one in this time (the shortest of the members counts), a little earlier at random. Nothing runs where nothing is
   * read: the first read after a pause is served what is here. Over 0, finite. Needs a `backend`; without one nothing is checked.
   * @default 10 seconds, or that of the group
   */
  readonly propagateWithin?: DurationLike | undefined;
  /**
   * A due execution whose backend, or `lock`, can't be asked: `load` runs it without a lease and does not publish it, `skip` does not run
   * it, which counts as a failure. @default 'load' for values and caches, 'skip' for tasks
   */
  readonly whenBackendDown?: WhenBackendDown | undefined;
  /**
   * The `RefreshGroup` of the member: options that are left out here are taken from the group, the name must be unique in
   * the group, and the group starts the member with the others and closes it. @default undefined
   */
  readonly group?: GroupLike | undefined;
}

/** The options that values and executors share. */
export interface SingleSharedOptions extends SharedOptions {
  /** `ready()` of the group waits for its first success. Only with `group`. @default false */
  readonly required?: boolean | undefined;
}

/** The options that values and caches share. */
export interface ValueSharedOptions extends SharedOptions {
  /**
   * The greatest age, counted from the end of the load, at which a value may be served; a load and a read may set a shorter one.
   * Longer than a `schedule` that is a duration, the default one included; at a due time of any other schedule at or beyond it,
   * one warning is logged. `Infinity`: any age. At this age the value is due, whatever the schedule says. To be served at any age
   * and to know about it, leave it out and set an alert on the age.
   * @default Infinity
   */
  readonly maxStaleness?: DurationLike | undefined;
  /**
   * A read that finds a value older than `maxStaleness`: `wait` waits for the reload (rejects with `TOO_STALE` when
   * that fails or may not start; `current` can't wait and throws, unless the load is synchronous), `throw` throws a
   * `TOO_STALE` at once while the reload runs behind. A read with a shorter `maxStaleness` of its own waits.
   * @default 'wait'
   */
  readonly whenTooStale?: WhenTooStale | undefined;
  /**
   * A read after a failed reload (also one that `refresh` has started): `serve` serves the value of before; `throw` rejects
   * (`current` throws) with the error of the reload, until one has succeeded or `set` was called. The first read after the
   * cool-down starts the next reload behind it, and rejects too; `get({ maxStaleness: 0 })` waits for it. `peek` has the value.
   * @default 'serve'
   */
  readonly whenFailing?: WhenFailing | undefined;
}
