import { showDuration } from '../time/show-duration.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/**
 * The warning about a due time at or beyond `maxStaleness`: a healthy source then lets values get too old. `undefined`
 * where the value is never due by itself, and where the limit is not the option's but that of this value (from its load or
 * its schedule).
 *
 * @param delayMs from the load to the instant of the schedule.
 */
export function lateScheduleWarning(
  { maxStalenessMs, whenTooStale }: Pick<ResolvedOptions, 'maxStalenessMs' | 'whenTooStale'>,
  delayMs: number,
  limitMs: number,
): string | undefined {
  const isLate = limitMs === maxStalenessMs && delayMs >= limitMs && delayMs < Infinity;
  if (!isLate) return undefined;
  const due = `due ${showDuration(delayMs)} after the load, maxStaleness is ${showDuration(limitMs)}`;
  const reads = whenTooStale === 'throw' ? 'are refused until the reload has ended' : 'wait for the reload';
  return `${due}: reads beyond that age ${reads}; choose a schedule that is due earlier, or a longer maxStaleness`;
}
