import { checkNames, reject } from './check.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';
import { requireSchedule } from './to-schedule.ts';

/** Options of {@link probabilisticEarly}. */
export interface ProbabilisticEarlyOptions {
  /**
   * How early: on average `beta` times what the last execution took. A finite number over 0; more than 1 favours
   * early executions.
   *
   * @default 1
   */
  readonly beta?: number | undefined;
}

/**
 * Executes a random time before the schedule says, the earlier the longer the last execution took, so that the new
 * value tends to be there before the old one expires and instances do not all load at once: "XFetch".
 *
 * With Δ for the duration of the last execution and a uniform u from above 0 to 1, it is due at
 * `expiry + Δ · beta · ln(u)`: on average Δ · beta early. It is never earlier than halfway from the instant of
 * asking to the expiry, so that a slow load at most doubles the rate. A value that was set by hand took no time, and
 * expires as the schedule says; what is due never (`Infinity`) stays so. `maxStaleness` is passed on.
 *
 * The paper draws at every read, and so loads the earlier the more reads there are. Here the draw is made once per
 * execution: the reads stay cheap, and how early does not depend on their number. Of n instances with draws of
 * their own, the first one comes on average Δ · beta · (1 + 1/2 + … + 1/n) early.
 *
 * Meant for schedules that count from the last execution (`fixedDelay`, `httpFreshness`). One of fixed instants
 * (`dailyAt`, `cron`, `fixedRate` with `anchoredAt`) that was executed early is due again at the instant itself; the
 * grid of `fixedRate` without an anchor moves along.
 *
 * @throws {OptionError} when `schedule` is no schedule, or `beta` no finite number over 0.
 * @see Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention, VLDB 2015.
 */
export function probabilisticEarly(
  schedule: ScheduleLike,
  options: ProbabilisticEarlyOptions = {},
): Schedule {
  const inner = requireSchedule('probabilisticEarly', 'schedule', schedule);
  checkNames('probabilisticEarly', options, ['beta']);
  const { beta = 1 } = options;
  if (!(Number.isFinite(beta) && beta > 0)) {
    reject('probabilisticEarly', 'beta', 'must be a finite number over 0', beta);
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
