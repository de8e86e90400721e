import { type DurationLike, toMillis } from '../time/duration.ts';
import { reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/** Jitter in proportion to the time until the next execution: 0.1 adds up to a tenth of it. */
export interface JitterRatio {
  readonly ratio: number;
}

/**
 * Moves each execution later by a random time, never earlier, so that many instances or many keys with the same
 * schedule do not load at the same moment: from 0 to below `jitter`, uniformly. It is drawn once per execution, and
 * anew when the schedule is asked again.
 *
 * It does not change what is due never (`Infinity`), nor the age that the schedule allows (`maxStaleness`). Put it
 * outermost: `withJitter(duringHours(…), …)` spreads the opening of the hours too. `fixedRate` under it needs
 * `anchoredAt`, or the jitter of each execution moves the grid.
 *
 * @param jitter the longest delay, finite; or `{ ratio }`, a number from 0, which counts from the instant of
 * asking. 0 adds nothing.
 * @throws {OptionError} when `schedule` is no schedule, or `jitter` no finite duration or ratio of at least 0.
 */
export function withJitter(schedule: ScheduleLike, jitter: DurationLike | JitterRatio): Schedule {
  const inner = requireSchedule('withJitter', 'schedule', schedule);
  const widthMs = widthOf(jitter);
  if (widthMs === undefined) {
    const isRatio = typeof jitter === 'object' && jitter !== null && 'ratio' in jitter;
    if (isRatio) reject('withJitter', 'jitter.ratio', 'must be a finite number from 0', jitter.ratio);
    reject('withJitter', 'jitter', 'must be a finite duration from 0, or { ratio }', jitter);
  }
  return {
    nextExecuteTime: (execution) => {
      const next = inner.nextExecuteTime(execution);
      if (next === Number.POSITIVE_INFINITY) return next;
      const { random = Math.random, now = execution.endedAt } = execution;
      return next + random() * widthMs(Math.max(0, next - now));
    },
    maxStaleness: (execution) => inner.maxStaleness?.(execution),
  };
}

/** How wide the window is in which an execution may come, in milliseconds, from the time until its beginning. */
export type JitterWidth = (untilNext: number) => number;

/** What a jitter stands for; `undefined` where it is none. */
export function widthOf(jitter: DurationLike | JitterRatio): JitterWidth | undefined {
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
