import type { DurationLike } from '../time/duration.ts';

/**
 * A strategy for the time of the next execution.
 *
 * It is called once after each successful execution (then `execution.now` is `execution.endedAt`), and again when the
 * wall clock was stepped or the schedule was replaced; never on a read. It must be fast and synchronous. It may have its
 * own state, for example to adapt to how often the data changes; such a schedule must learn only from an execution that
 * has just ended, and should not be shared by several values.
 *
 * If it throws, or returns `NaN`, anything but a number, or (after an execution) an instant that is not in the future,
 * the error is reported (`logger.error`, event `cooling-down`, `inspect().lastError`) and the cool-down applies: a broken
 * schedule never causes a hot loop, and never loses the value.
 */
export interface Schedule {
  /**
   * The instant of the next execution in epoch milliseconds: any instant after `execution.now`. `Infinity` means never
   * by itself. A repeated call about the same execution may return an instant that has passed: the value is due then.
   */
  nextExecuteTime(execution: Execution): number;
  /**
   * The age in milliseconds beyond which the value of this execution is too stale, for a schedule that knows it
   * (`httpFreshness` reads it from the response). `undefined`, or no such method: the option `maxStaleness` applies.
   */
  maxStaleness?(execution: Execution): number | undefined;
}

/**
 * A {@link Schedule}, a plain function with the contract of `nextExecuteTime`, or a duration, which means `fixedDelay`. The
 * function may also return a duration that is not a number, such as `'10m'`, which is one from the end of the execution: a number
 * is an instant.
 */
export type ScheduleLike = Schedule | ((execution: Execution) => DurationLike) | DurationLike;

/**
 * The last successful execution, as input of a schedule.
 *
 * All instants are epoch milliseconds on the wall clock *as it is now*: if the clock was stepped since the execution,
 * `startedAt`, `endedAt` and `dueAt` have moved with it, so that differences between them and `now` are elapsed time. A
 * strategy of durations counts from `endedAt` or `startedAt`. A strategy of calendar instants searches the first instant
 * after `since`, so that a step of the clock skips no instant.
 */
export interface Execution {
  /** Start of the execution. */
  readonly startedAt: number;
  /** End of the execution; the age of the value counts from here. */
  readonly endedAt: number;
  /** The earlier of `endedAt` and the time that the wall clock showed at the end. Missing means `endedAt`. */
  readonly since?: number;
  /** The present instant. Missing means `endedAt`. */
  readonly now?: number;
  /**
   * The due time of this execution, as the schedule had returned it; `undefined` for the first execution. Inside of
   * `withJitter`, `duringHours` and other wrappers it is the result of the outermost schedule.
   */
  readonly dueAt?: number | undefined;
  /** `loaded`: a new value; `kept`: the source reported "not modified" (`keep()`); `set`: the method `set`. */
  readonly outcome?: 'loaded' | 'kept' | 'set';
  /** Age limit of the value in milliseconds; `Infinity` or missing: none. The value is due at that age at the latest. */
  readonly maxStaleness?: number;
  /**
   * The previous result about the same execution, when the schedule is called again after a step of the wall clock; it
   * has moved with the step. `undefined` otherwise, and after a result of `Infinity`.
   */
  readonly answered?: number | undefined;
  /** The result of the task or load; the value that is served now. */
  readonly result?: unknown;
  /**
   * Response headers, if the load passed them: `loaded(value, { headers })`, `keep({ headers })`. Those of a kept value are the
   * fields of the last response, over `Cache-Control`, `Expires` and `Last-Modified` of those before (RFC 9111 §3.2).
   */
  readonly headers?: HeadersLike | undefined;
  /** The option `random`: numbers in [0, 1). Missing means `Math.random`. */
  readonly random?: () => number;
}

/** Response headers: anything with a `get(name)` such as `Headers`, or a plain object with lower-case names. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };
