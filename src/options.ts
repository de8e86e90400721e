import { type Clock, systemClock } from './clock.ts';
import { type DurationLike, toMillis } from './duration.ts';
import { OptionError, type OptionProblem } from './errors.ts';
import type { CoolDown } from './executor/cool-down.ts';
import type { WhenTooStale } from './executor/decide.ts';
import type { RetryOptions } from './executor/retry.ts';
import { type Logger, SafeLogger } from './observe/logger.ts';
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

/** Every default that is not "nothing". */
export const defaults: {
  readonly schedule: DurationLike;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly timeout: number;
  readonly maxStaleness: number;
  readonly whenTooStale: WhenTooStale;
  readonly closeTimeout: number;
} = {
  schedule: { minutes: 10 },
  coolDown: { initial: 1000, factor: 2, max: 120_000 },
  timeout: 30_000,
  maxStaleness: Number.POSITIVE_INFINITY,
  whenTooStale: 'wait',
  closeTimeout: 10_000,
};

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
  const options = (given ?? {}) as Partial<AnyOptions>;
  const problems: OptionProblem[] = [];
  const check = (holds: boolean, option: string, rule: string, received: unknown): void => {
    if (!holds) problems.push({ option, rule, received });
  };
  const milliseconds = (option: string, received: DurationLike, rule: string, most: number): number => {
    const ms = toMillis(received);
    check(ms > 0 && ms <= most, option, rule, received);
    return ms;
  };
  const isFunction = (received: unknown): boolean => typeof received === 'function';

  const {
    name,
    schedule: scheduleLike = defaults.schedule,
    retry,
    timeout = defaults.timeout,
    maxStaleness = defaults.maxStaleness,
    whenTooStale = defaults.whenTooStale,
    allowUndefined = false,
    waitUntil,
    logger = console,
    clock = systemClock,
    random = Math.random,
  } = options;
  check(typeof name === 'string' && name !== '', 'name', 'must be a string that is not empty', name);
  check(isFunction(callback.received), callback.option, 'must be a function', callback.received);

  const schedule = toSchedule(scheduleLike);
  check(schedule !== undefined, 'schedule', A_SCHEDULE, scheduleLike);

  if (retry !== undefined) checkRetry(retry, check);
  const coolDown = resolveCoolDown(options.coolDown, milliseconds, check);
  const timeoutMs = milliseconds('timeout', timeout, OVER_ZERO, Infinity);

  const maxStalenessMs = milliseconds('maxStaleness', maxStaleness, OVER_ZERO, Infinity);
  const periodMs = toMillis(options.schedule as DurationLike);
  check(
    !(maxStalenessMs < periodMs),
    'maxStaleness',
    `must not be shorter than the schedule of ${periodMs} ms`,
    maxStaleness,
  );
  check(
    ['wait', 'throw', 'serve'].includes(whenTooStale),
    'whenTooStale',
    "must be 'wait', 'throw' or 'serve'",
    whenTooStale,
  );
  check(typeof allowUndefined === 'boolean', 'allowUndefined', 'must be true or false', allowUndefined);

  check(waitUntil === undefined || isFunction(waitUntil), 'waitUntil', 'must be a function', waitUntil);
  check(
    logger === false || (isFunction(logger?.warn) && isFunction(logger.error)),
    'logger',
    'must have the methods warn and error, or be false',
    logger,
  );
  check(
    isFunction(clock?.now) && isFunction(clock.monotonic) && isFunction(clock.setTimeout),
    'clock',
    'must have the methods now, monotonic and setTimeout',
    clock,
  );
  check(isFunction(random), 'random', 'must be a function', random);

  const cacheName = typeof name === 'string' && name !== '' ? name : 'tickless';
  const [first, ...others] = problems;
  if (first !== undefined) throw new OptionError([first, ...others], { cacheName });
  return Object.freeze({
    name: cacheName,
    schedule: schedule as Schedule,
    retry,
    coolDown,
    timeoutMs,
    maxStalenessMs,
    whenTooStale,
    allowUndefined,
    waitUntil,
    logger: new SafeLogger(cacheName, logger),
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
  const ms = toMillis(received);
  if (ms >= 0) return ms;
  throw new OptionError([{ option, rule: 'must be a duration of 0 or more', received }], { cacheName });
}

/**
 * Checks a schedule given to a method.
 *
 * @throws {OptionError} when it is none.
 */
export function scheduleArgument(cacheName: string, received: ScheduleLike): Schedule {
  const schedule = toSchedule(received);
  if (schedule !== undefined) return schedule;
  throw new OptionError([{ option: 'schedule', rule: A_SCHEDULE, received }], { cacheName });
}

const A_SCHEDULE = 'must be a schedule, a function, or a duration over 0';
const OVER_ZERO = 'must be a duration over 0';
const FINITE = 'must be a finite duration over 0';

function isNumber(received: unknown, least: number, most: number): boolean {
  return typeof received === 'number' && received >= least && received <= most;
}

type Check = (holds: boolean, option: string, rule: string, received: unknown) => void;

function resolveCoolDown(
  given: DurationLike | CoolDownOptions | undefined,
  milliseconds: (option: string, received: DurationLike, rule: string, most: number) => number,
  check: Check,
): CoolDown {
  if (given !== undefined && !isCoolDownOptions(given)) {
    const ms = milliseconds('coolDown', given, FINITE, Number.MAX_VALUE);
    return { initialMs: ms, factor: 1, maxMs: ms };
  }
  const { initial = defaults.coolDown.initial, factor = defaults.coolDown.factor } = given ?? {};
  const initialMs = milliseconds('coolDown.initial', initial, FINITE, Number.MAX_VALUE);
  check(
    isNumber(factor, 1, Number.MAX_VALUE),
    'coolDown.factor',
    'must be a finite number of 1 or more',
    factor,
  );
  const max = given?.max ?? Math.max(defaults.coolDown.max, initialMs);
  const maxMs = milliseconds('coolDown.max', max, FINITE, Number.MAX_VALUE);
  check(!(maxMs < initialMs), 'coolDown.max', 'must not be shorter than coolDown.initial', max);
  return { initialMs, factor, maxMs };
}

function isCoolDownOptions(given: DurationLike | CoolDownOptions): given is CoolDownOptions {
  return (
    typeof given === 'object' && given !== null && ('initial' in given || 'factor' in given || 'max' in given)
  );
}

function checkRetry(retry: RetryOptions, check: Check): void {
  if (typeof retry !== 'object' || retry === null) {
    check(false, 'retry', "must be an object of p-retry's options", retry);
    return;
  }
  for (const option of ['retries', 'factor', 'minTimeout', 'maxTimeout', 'maxRetryTime'] as const) {
    const received = retry[option];
    const mayBeInfinite = option !== 'factor' && option !== 'minTimeout';
    check(
      received === undefined || isNumber(received, 0, mayBeInfinite ? Infinity : Number.MAX_VALUE),
      `retry.${option}`,
      `must be a ${mayBeInfinite ? '' : 'finite '}number of 0 or more`,
      received,
    );
  }
  check(
    !((retry.maxTimeout ?? Infinity) < (retry.minTimeout ?? 0)),
    'retry.maxTimeout',
    'must not be shorter than retry.minTimeout',
    retry.maxTimeout,
  );
  for (const option of ['onFailedAttempt', 'shouldRetry', 'shouldConsumeRetry'] as const) {
    const received = retry[option];
    check(
      received === undefined || typeof received === 'function',
      `retry.${option}`,
      'must be a function',
      received,
    );
  }
}
