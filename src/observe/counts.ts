import { type ExecutionOutcome, OUTCOMES } from '../data/execution-record.ts';
import type { Counters } from './counters.ts';
import { ROUND_OUTCOMES, type RoundOutcome } from './events.ts';
import type { LoadTimes } from './load-times.ts';

/**
 * The counts of a value, a cache or an executor, on this instance and since it was made: how often each outcome of `load-ended` and
 * `round` was, and the events of reads and keys. A copy: it does not change.
 */
export interface MemberCounts
  extends Readonly<
    Record<ExecutionOutcome | RoundOutcome | 'stale-served' | 'too-stale' | 'evicted', number>
  > {
  /** Reads: each `get` and `current`, and each key of `getMany`. 0 of an executor, which has no value. */
  readonly reads: number;
  /** Reads that found no value in place: the first ones, of a cache those of unknown, evicted and absent keys. */
  readonly misses: number;
  /** Reads that waited for a load, or for another instance. */
  readonly waited: number;
  /**
   * Reads that were refused, by the `code` of the error. Not those of absent keys, wrong arguments, and those that their own signal
   * ended. `getMany` counts each key.
   */
  readonly readsFailed: Readonly<Record<string, number>>;
  /** How long the loads took that have begun here and were neither cancelled nor late. */
  readonly took: LoadTimes;
  /** The bytes of UTF-8 that were written to the store. */
  readonly bytes: number;
  /**
   * Commands to the lock and to the store for this member, each try counted. Of several keys that went in one command each
   * counts. Not the checks of `propagateWithin`, which are for all members together.
   */
  readonly lockCommands: number;
  readonly storeCommands: number;
}

export function memberCounts(counters: Counters): MemberCounts {
  const { reads, misses, waited, readsFailed, loading, bytes, lockCommands, storeCommands } = counters;
  const counted = [...OUTCOMES, ...ROUND_OUTCOMES, 'stale-served', 'too-stale', 'evicted'] as const; // also where it is 0
  const words = Object.fromEntries(counted.map((word) => [word, counters.counts[word] ?? 0]));
  return Object.freeze({
    ...(words as Record<(typeof counted)[number], number>),
    reads,
    misses,
    waited,
    readsFailed: Object.freeze({ ...readsFailed }),
    took: loading.times,
    bytes,
    lockCommands,
    storeCommands,
  });
}
