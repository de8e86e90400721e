import { ownOptions } from '../option-checks.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkDuration, checkNames, reject } from './check.ts';
import type { Schedule } from './schedule.ts';

/** Options of {@link fixedRate}. */
export interface FixedRateOptions {
  /**
   * Any instant of the grid, past or future, in epoch milliseconds or as a `Date`. 0 puts the grid on whole multiples of
   * the period in UTC. Executions before this instant are not delayed. With it the grid is fixed to the wall clock: it
   * is the same after a restart, on every instance, and under `withJitter`.
   *
   * @default undefined: the grid begins at the start of the first execution
   */
  readonly anchoredAt?: number | Date | undefined;
}

/**
 * Executes on a fixed grid without drift: however late an execution starts or ends, the next one is due at the first
 * grid instant after its end. Missed instants collapse into one execution, and a forced early execution does not move
 * the grid.
 *
 * The grid continues from the last due instant (`dueAt`), at first from the start of the first execution. A wrapper
 * that moves that instant (`withJitter`, `duringHours`, `earliest`) therefore moves the grid, unless `anchoredAt` fixes
 * it.
 *
 * @param period a positive duration; `Infinity` means never by itself.
 * @throws {TicklessError} `OPTION` when `period` is not a positive duration, or `anchoredAt` not an instant.
 */
export function fixedRate(period: DurationLike, options: FixedRateOptions = {}): Schedule {
  checkDuration('fixedRate', 'period', period);
  checkNames('fixedRate', options, ['anchoredAt']);
  const { anchoredAt } = ownOptions(options);
  const anchor = anchoredAt instanceof Date ? anchoredAt.getTime() : anchoredAt;
  if (anchor !== undefined && !Number.isFinite(anchor)) {
    reject('fixedRate', 'anchoredAt', 'must be epoch milliseconds or a valid Date', anchoredAt);
  }
  const periodMs = toMillis(period);
  return {
    nextExecuteTime: ({ startedAt, endedAt, since, dueAt }) =>
      anchor === undefined
        ? firstOnGrid(dueAt ?? startedAt, periodMs, endedAt)
        : firstOnGrid(anchor, periodMs, since ?? endedAt),
  };
}

/** The first instant base + k · period, for any integer k, that is later than `after`. */
function firstOnGrid(base: number, periodMs: number, after: number): number {
  const next = base + (Math.floor((after - base) / periodMs) + 1) * periodMs;
  return next > after ? next : next + periodMs; // the division of a fractional period may have been rounded down
}
