import { ownOptions } from '../option-checks.ts';
import { checkNames, reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/** Options of {@link probabilisticEarly}. */
export interface ProbabilisticEarlyOptions {
  /**
   * How early, as a multiple of the duration of the last execution: on average `beta` times. A positive finite number;
   * more than 1 favours early executions.
   *
   * @default 1
   */
  readonly beta?: number | undefined;
}

/**
 * Executes a random time before another schedule is due, the earlier the longer the last execution took, so that the new
 * value is usually present before the old one expires and instances don't all load at once: "XFetch".
 *
 * With Δ for the duration of the last execution and u uniform in (0, 1], it is due at `expiry + Δ · beta · ln(u)`: on
 * average Δ · beta early. It is never earlier than halfway between the present instant and the expiry, so that a slow
 * load at most doubles the rate. A value from `set` has Δ = 0 and expires as scheduled; `Infinity` stays `Infinity`.
 * `maxStaleness` is passed on unchanged.
 *
 * The paper draws at every read, so that loads start earlier with more reads. This schedule draws once per execution:
 * reads stay cheap, and the result does not depend on their number. Of n instances with independent draws, the first
 * one is on average Δ · beta · (1 + 1/2 + … + 1/n) early.
 *
 * Use it for schedules that count from the last execution (`fixedDelay`, `httpFreshness`). A schedule of fixed instants
 * (`dailyAt`, `cron`, `fixedRate` with `anchoredAt`) is due again at the instant itself after an early execution; the
 * grid of `fixedRate` without an anchor moves along.
 *
 * @throws {TicklessError} `OPTION` when `schedule` is not a schedule, or `beta` not a positive finite number.
 * @see Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention, VLDB 2015.
 */
export function probabilisticEarly(
  schedule: ScheduleLike,
  options: ProbabilisticEarlyOptions = {},
): Schedule {
  const inner = requireSchedule('probabilisticEarly', 'schedule', schedule);
  checkNames('probabilisticEarly', options, ['beta']);
  const { beta = 1 } = ownOptions(options);
  if (!(Number.isFinite(beta) && beta > 0)) {
    reject('probabilisticEarly', 'beta', 'must be a positive finite number', beta);
  }
  return {
    nextExecuteTime: (execution) => {
      const expiry = inner.nextExecuteTime(execution);
      const { startedAt, endedAt, random = Math.random, now = endedAt } = execution;
      if (!(expiry > now)) return expiry;
      const early = (endedAt - startedAt) * beta * -Math.log(1 - random()); // 1 - random(): never the log of 0
      return expiry - Math.min(early, (expiry - now) / 2);
    },
    maxStaleness: (execution) => inner.maxStaleness?.(execution),
  };
}
