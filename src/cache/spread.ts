import type { Execution, Schedule } from '../schedule/schedule.ts';
import type { JitterWidth } from '../schedule/with-jitter.ts';

/**
 * Spreads keys that were loaded together, so that they do not fall due together: each is due at a random instant of a
 * window that begins when the schedule says. Where the age limit leaves no room for the window after that, it begins
 * earlier, but not before half of the time.
 *
 * @param width how wide the window is to be, from the time until the schedule's instant.
 * @param maxStalenessMs the age limit.
 */
export function spread(schedule: Schedule, width: JitterWidth, maxStalenessMs: number): Schedule {
  function nextExecuteTime(execution: Execution): number {
    const next = schedule.nextExecuteTime(execution);
    const { random = Math.random, now = execution.endedAt } = execution;
    const wait = next - now;
    if (!(wait > 0 && wait < Infinity)) return next;
    const limit =
      execution.endedAt + Math.min(maxStalenessMs, schedule.maxStaleness?.(execution) ?? Infinity);
    const widthMs = width(wait);
    const latest = Math.min(next + widthMs, limit);
    const earliest = Math.min(next, Math.max(now + wait / 2, latest - widthMs));
    return latest > earliest
      ? earliest + random() * (latest - earliest)
      : Math.min(next, Math.max(earliest, latest));
  }
  return { nextExecuteTime, maxStaleness: (execution) => schedule.maxStaleness?.(execution) };
}
