import { type DurationLike, toMillis } from '../time/duration.ts';
import { wrapped } from './calendar.ts';
import { reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/** Jitter relative to the time until the next execution: 0.1 adds up to a tenth of it. */
export interface JitterRatio {
  readonly ratio: number;
}

/**
 * Delays each execution by a random time, uniform from 0 to below `jitter`, so that many instances or many keys with the
 * same schedule don't load at the same moment. Each call of the schedule draws anew: once per execution, and again after
 * a step of the wall clock.
 *
 * Keys of a cache are spread by this alone, and not by its default besides: with 0 not at all.
 *
 * `Infinity` stays `Infinity`, and `maxStaleness` is passed on unchanged. Use it as the outermost wrapper:
 * `withJitter(duringHours(…), …)` also spreads the opening of the hours. A `fixedRate` inside needs `anchoredAt`, else
 * the jitter of each execution moves the grid.
 *
 * @param jitter the longest delay, finite; or `{ ratio }`, a number of 0 or more, relative to the time from now until
 * the next execution. 0 adds nothing.
 * @throws {TicklessError} `OPTION` when `schedule` is not a schedule, or `jitter` neither a finite duration nor a finite ratio of 0
 * or more.
 */
export function withJitter(schedule: ScheduleLike, jitter: DurationLike | JitterRatio): Schedule {
  const inner = requireSchedule('withJitter', 'schedule', schedule);
  const widthMs = widthOf(jitter);
  if (widthMs === undefined) {
    const isRatio = typeof jitter === 'object' && jitter !== null && 'ratio' in jitter;
    if (isRatio) reject('withJitter', 'jitter.ratio', 'must be a finite number of 0 or more', jitter.ratio);
    reject('withJitter', 'jitter', 'must be a finite duration of 0 or more, or { ratio }', jitter);
  }
  const spread: Schedule = {
    nextExecuteTime: (execution) => {
      const next = inner.nextExecuteTime(execution);
      if (next === Infinity) return next;
      const { random = Math.random, now = execution.endedAt } = execution;
      return next + random() * widthMs(Math.max(0, next - now));
    },
    maxStaleness: (execution) => inner.maxStaleness?.(execution),
  };
  jittered.add(spread);
  return wrapped(spread, inner);
}

const jittered: WeakSet<Schedule> = /* @__PURE__ */ new WeakSet();

/** It is a result of {@link withJitter}. */
export function hasJitter(schedule: Schedule): boolean {
  return jittered.has(schedule);
}

/** The width of the window in milliseconds, from the time until it begins; `undefined` for a jitter that is invalid. */
function widthOf(jitter: DurationLike | JitterRatio): ((untilNext: number) => number) | undefined {
  if (typeof jitter === 'object' && jitter !== null && 'ratio' in jitter) {
    const { ratio } = jitter;
    return isFiniteFromZero(ratio) ? (untilNext) => ratio * untilNext : undefined;
  }
  const jitterMs = toMillis(jitter);
  return isFiniteFromZero(jitterMs) ? () => jitterMs : undefined;
}

function isFiniteFromZero(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0;
}
