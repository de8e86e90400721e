import { type Clock, systemClock } from './clock.ts';
import { type DurationLike, toMillis } from './duration.ts';
import type { CoolDown } from './executor/cool-down.ts';
import type { WhenTooStale } from './executor/decide.ts';
import type { RetryOptions } from './executor/retry.ts';
import { type Logger, SafeLogger } from './observe/logger.ts';
import { isNumber, OptionChecks } from './option-checks.ts';
import type { Schedule, ScheduleLike } from './schedule/schedule.ts';
import { toSchedule } from './schedule/to-schedule.ts';

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
  /** The span never grows beyond this. At least `initial`, finite. @default 2 minutes */
  readonly max?: DurationLike | undefined;
}

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
   * a late result is dropped. Over 0; `Infinity`: none. It can't interrupt synchronous code.
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
  /** Numbers from 0 to below 1, for jitter. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** What all that hold values have in common. */
export interface ValueSharedOptions extends SharedOptions {
  /**
   * The greatest age, counted from the end of the load, at which a value may be served. Over 0, and not shorter
   * than a `schedule` that is a duration. `Infinity`: any age. A read beyond it starts a load also if none is due.
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
}

/** Every default that is not "nothing". Frozen. */
export const defaults: {
  readonly schedule: DurationLike;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly timeout: number;
  readonly maxStaleness: number;
  readonly whenTooStale: WhenTooStale;
  readonly closeTimeout: number;
} = Object.freeze({
  schedule: Object.freeze({ minutes: 10 }),
  coolDown: Object.freeze({ initial: 1000, factor: 2, max: 120_000 }),
  timeout: 30_000,
  maxStaleness: Number.POSITIVE_INFINITY,
  whenTooStale: 'wait',
  closeTimeout: 10_000,
});

/** The options with nothing optional left, durations in milliseconds. Frozen. */
export interface Policy {
  readonly name: string;
  readonly schedule: Schedule;
  readonly retry: RetryOptions | undefined;
  readonly coolDown: CoolDown;
  readonly timeoutMs: number;
  readonly maxStalenessMs: number;
  readonly whenTooStale: WhenTooStale;
  readonly allowUndefined: boolean;
  readonly waitUntil: WaitUntil | undefined;
  readonly logger: SafeLogger;
  readonly clock: Clock;
  readonly random: () => number;
}

/** All options of all members; those that a member does not have are missing. */
type AnyOptions = ValueSharedOptions & { readonly allowUndefined?: boolean | undefined };

/**
 * Checks all options together and fills in the defaults.
 *
 * @param callback the member's own function option, checked with the rest.
 * @throws {OptionError} with every rule that is broken.
 */
export function resolveOptions(
  given: AnyOptions,
  callback: { readonly option: string; readonly received: unknown },
): Policy {
  const {
    name,
    schedule: scheduleLike = defaults.schedule,
    retry,
    coolDown: coolDownLike,
    timeout = defaults.timeout,
    maxStaleness = defaults.maxStaleness,
    whenTooStale = defaults.whenTooStale,
    allowUndefined = false,
    waitUntil,
    logger = console,
    clock = systemClock,
    random = Math.random,
  } = (given ?? {}) as Partial<AnyOptions>;
  const isNamed = typeof name === 'string' && name !== '';
  const checks = new OptionChecks(isNamed ? name : 'tickless');

  checks.that(isNamed, 'name', 'must be a string that is not empty', name);
  checks.function(callback.option, callback.received);
  const schedule = toSchedule(scheduleLike);
  checks.that(schedule !== undefined, 'schedule', A_SCHEDULE, scheduleLike);
  if (retry !== undefined) checkRetry(retry, checks);
  const coolDown = resolveCoolDown(coolDownLike, checks);
  const timeoutMs = checks.duration('timeout', timeout);
  const maxStalenessMs = checks.duration('maxStaleness', maxStaleness);
  // Only what was given: the default schedule contradicts nobody, and is cut short by the age limit.
  const periodMs = toMillis(given?.schedule as DurationLike);
  const isLongEnough = !(maxStalenessMs < periodMs) || periodMs === Infinity;
  const noShorter = `must not be shorter than the schedule of ${periodMs} ms`;
  checks.that(isLongEnough, 'maxStaleness', noShorter, maxStaleness);
  const isWhenTooStale = ['wait', 'throw', 'serve'].includes(whenTooStale);
  checks.that(isWhenTooStale, 'whenTooStale', "must be 'wait', 'throw' or 'serve'", whenTooStale);
  checks.that(typeof allowUndefined === 'boolean', 'allowUndefined', 'must be true or false', allowUndefined);
  if (waitUntil !== undefined) checks.function('waitUntil', waitUntil);
  if (logger !== false) checks.methods('logger', logger, ['warn', 'error']);
  checks.methods('clock', clock, ['now', 'monotonic', 'setTimeout']);
  checks.function('random', random);
  checks.done();

  return Object.freeze({
    name: name as string,
    schedule: schedule as Schedule,
    retry,
    coolDown,
    timeoutMs,
    maxStalenessMs,
    whenTooStale,
    allowUndefined,
    waitUntil,
    logger: new SafeLogger(name as string, logger),
    clock,
    random,
  });
}

/**
 * Checks a duration given to a method.
 *
 * @throws {OptionError} when it is none, or under 0.
 */
export function durationArgument(cacheName: string, option: string, received: DurationLike): number {
  const checks = new OptionChecks(cacheName);
  const ms = toMillis(received);
  checks.that(ms >= 0, option, 'must be a duration of 0 or more', received);
  checks.done();
  return ms;
}

/**
 * Checks a schedule given to a method.
 *
 * @throws {OptionError} when it is none.
 */
export function scheduleArgument(cacheName: string, received: ScheduleLike): Schedule {
  const checks = new OptionChecks(cacheName);
  const schedule = toSchedule(received);
  checks.that(schedule !== undefined, 'schedule', A_SCHEDULE, received);
  checks.done();
  return schedule as Schedule;
}

const A_SCHEDULE = 'must be a schedule, a function, or a duration over 0';

function resolveCoolDown(given: DurationLike | CoolDownOptions | undefined, checks: OptionChecks): CoolDown {
  if (given !== undefined && !isCoolDownOptions(given)) {
    const ms = checks.finiteDuration('coolDown', given);
    return { initialMs: ms, factor: 1, maxMs: ms };
  }
  const { initial = defaults.coolDown.initial, factor = defaults.coolDown.factor } = given ?? {};
  const initialMs = checks.finiteDuration('coolDown.initial', initial);
  const isFactor = isNumber(factor, 1, Number.MAX_VALUE);
  checks.that(isFactor, 'coolDown.factor', 'must be a finite number of 1 or more', factor);
  const max = given?.max ?? Math.max(defaults.coolDown.max, initialMs);
  const maxMs = checks.finiteDuration('coolDown.max', max);
  checks.that(!(maxMs < initialMs), 'coolDown.max', 'must not be shorter than coolDown.initial', max);
  return { initialMs, factor, maxMs };
}

function isCoolDownOptions(given: DurationLike | CoolDownOptions): given is CoolDownOptions {
  return (
    typeof given === 'object' && given !== null && ('initial' in given || 'factor' in given || 'max' in given)
  );
}

function checkRetry(retry: RetryOptions, checks: OptionChecks): void {
  if (typeof retry !== 'object' || retry === null) {
    checks.that(false, 'retry', "must be an object of p-retry's options", retry);
    return;
  }
  const isForever = 'forever' in retry;
  checks.that(!isForever, 'retry.forever', 'must not be given: say retries: Infinity', true);
  for (const option of ['retries', 'maxTimeout', 'maxRetryTime'] as const) {
    const received = retry[option] ?? 0;
    checks.that(
      isNumber(received, 0, Infinity),
      `retry.${option}`,
      'must be a number of 0 or more',
      received,
    );
  }
  for (const option of ['factor', 'minTimeout'] as const) {
    const received = retry[option] ?? 0;
    const holds = isNumber(received, 0, Number.MAX_VALUE);
    checks.that(holds, `retry.${option}`, 'must be a finite number of 0 or more', received);
  }
  const { minTimeout = 0, maxTimeout = Infinity } = retry;
  const noShorter = 'must not be shorter than retry.minTimeout';
  checks.that(!(maxTimeout < minTimeout), 'retry.maxTimeout', noShorter, maxTimeout);
  for (const option of ['onFailedAttempt', 'shouldRetry', 'shouldConsumeRetry'] as const) {
    if (retry[option] !== undefined) checks.function(`retry.${option}`, retry[option]);
  }
}
