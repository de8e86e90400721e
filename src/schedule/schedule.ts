import type { DurationLike } from '../time/duration.ts';

/**
 * A strategy that says when to execute next.
 *
 * It is asked once after each successful execution (`execution.now` is `execution.endedAt` then), and again when
 * the wall clock was found stepped or the schedule replaced; never on a read. It must be quick and synchronous. It
 * may keep state of its own, for example to adapt to how often the data changes; then it should learn only from an
 * execution that has just ended, and should not be shared between values.
 *
 * If it throws, or its answer is `NaN`, not a number or (after an execution) not in the future, that is reported (`logger.error`,
 * event `cooling-down`, `inspect().lastError`) and answered with the cool-down: a broken schedule never makes a
 * hot loop, and never loses the value.
 */
export interface Schedule {
  /**
   * The instant of the next execution in epoch milliseconds: any instant after `execution.now`, however far away.
   * `Infinity` means never by itself. When it is asked again about the same execution, an instant that has passed
   * by now is no mistake: it is due.
   */
  nextExecuteTime(execution: Execution): number;
  /**
   * The age in milliseconds beyond which the value of this execution is too stale, where the schedule knows one
   * (`httpFreshness` learns it from the response). `undefined`, or no such method: the option `maxStaleness` holds.
   */
  maxStaleness?(execution: Execution): number | undefined;
}

/**
 * A {@link Schedule}, a plain function with the contract of `nextExecuteTime`, or a duration, which means
 * `fixedDelay` of that duration.
 */
export type ScheduleLike = Schedule | ((execution: Execution) => number) | DurationLike;

/**
 * The execution that a schedule is asked about: the last one that succeeded.
 *
 * All instants are epoch milliseconds in terms of the wall clock *as it is now*: if the clock was stepped since the
 * execution, `startedAt`, `endedAt` and `dueAt` have moved with it, so that differences between them and `now` are
 * elapsed time. A strategy of durations counts from `endedAt` or `startedAt`. A strategy of calendar instants looks
 * for the first instant after `since`, so that no instant is skipped when the clock is stepped over it.
 */
export interface Execution {
  /** When it started. */
  readonly startedAt: number;
  /** When it ended: the age of the value counts from here. */
  readonly endedAt: number;
  /** The earlier of `endedAt` and what the wall clock showed at that time. Missing means `endedAt`. */
  readonly since?: number;
  /** The instant of asking. Missing means `endedAt`. */
  readonly now?: number;
  /**
   * The instant that the schedule had named for this execution; `undefined` for the first one. Inside of
   * `withJitter`, `duringHours` and the like it is the instant that the outermost schedule named.
   */
  readonly dueAt?: number | undefined;
  /** `loaded`: a new value; `kept`: the source said "not modified" (`keep()`); `set`: given by hand. */
  readonly outcome?: 'loaded' | 'kept' | 'set';
  /** The age limit of the value, in milliseconds; `Infinity` or missing: none. At that age it is due in any case. */
  readonly maxStaleness?: number;
  /**
   * What it answered before, when it is asked again about the same execution because the wall clock was stepped; it has
   * moved with the step. `undefined` otherwise, and after an answer of `Infinity`.
   */
  readonly answered?: number | undefined;
  /** What the task or load returned; the value that is served now. */
  readonly result?: unknown;
  /** Headers of the response, where the load gave them: `loaded(value, { headers })`, `keep({ headers })`. */
  readonly headers?: HeadersLike | undefined;
  /** The `random` option: numbers from 0 to below 1. Missing means `Math.random`. */
  readonly random?: () => number;
}

/** Response headers: anything with a `get(name)` such as `Headers`, or a plain object with lower-case names. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };
