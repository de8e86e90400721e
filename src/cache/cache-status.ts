import type { ExecutionRecord } from '../data/execution-record.ts';
import type { CoordinationProblem, LockStatus } from '../engine/coordinator.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { type MemberCounts, memberCounts } from '../observe/counters.ts';
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
  /** How many keys have a value that the first source of `firstOf` has not made; not present: none. */
  readonly backups?: number;
  /** Keys fail, and there is no value of any key: reads are refused. */
  readonly refusesReads: boolean;
  /** How often what has happened, to all keys together. */
  readonly counts: MemberCounts;
  /** Its last executions, of all keys: as of a value. */
  readonly executions: readonly ExecutionRecord[];
  /** Why the lock and the store could not be used the last time; not present without a lock and a store. */
  readonly lock?: Pick<LockStatus, 'lockError' | 'storeError'>;
  /** Between `pause()` and `resume()`. */
  readonly paused: boolean;
  /** After `close()`. */
  readonly closed: boolean;
}

export function cacheStatus<K, V>(engine: MemberEngine<V>, entries: KeyedEntries<K, V>): CacheStatus {
  const { options, runState, events } = engine;
  const problems = engine.coordinator?.problems();
  const errorOf = (what: CoordinationProblem['what']): Error | undefined =>
    problems?.find((problem) => problem.what === what)?.error;
  const active = entries.active();
  const { size } = entries.table;
  const failing = entries.failing().length;
  const backups = entries.backups().length;
  return withJson({
    name: options.name,
    size,
    running: active.filter(({ flight }) => flight !== undefined).length,
    failing,
    ...(backups > 0 && { backups }),
    refusesReads: failing > 0 && size === 0,
    counts: memberCounts(events.counters),
    executions: events.executions.newest,
    ...(problems && {
      lock: { lockError: errorOf('lock'), storeError: errorOf('store') },
    }),
    paused: runState === 'paused',
    closed: runState === 'closed',
  });
}
