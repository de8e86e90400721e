import type { RunState } from '../engine/decide.ts';
import { type JsonStatus, withJson } from '../json.ts';
import type { MemberStats } from '../observe/stats.ts';
import type { KeyedEntries } from './keyed-entries.ts';

/** The state of a cache as a whole at one instant. A copy: it does not change. */
export interface CacheStatus extends JsonStatus {
  /** The `name` option. */
  readonly name: string;
  /** How many values it holds. */
  readonly size: number;
  /** How many keys have a load under way. */
  readonly running: number;
  /** How many keys have a last load that failed. */
  readonly failing: number;
  /** Its counters, of all keys together. */
  readonly stats: MemberStats;
  /** Between `pause()` and `resume()`. */
  readonly paused: boolean;
  /** After `close()`. */
  readonly closed: boolean;
}

export function cacheStatus(
  name: string,
  runState: RunState,
  stats: MemberStats,
  entries: KeyedEntries<unknown, unknown>,
): CacheStatus {
  const active = entries.active();
  return withJson({
    name,
    size: entries.table.size,
    running: active.filter(({ flight }) => flight !== undefined).length,
    failing: entries.failing().length,
    stats,
    paused: runState === 'paused',
    closed: runState === 'closed',
  });
}
