import type { Counters } from './counters.ts';
import type { EventType } from './events.ts';
import type { LoadTimes } from './load-times.ts';

/** The counters of a value, a cache or an executor, on this instance and since it was made. A copy: it does not change. */
export interface MemberStats {
  /** Reads: each `get` and `current`, and each key of `getMany`. 0 of an executor, which has no value. */
  readonly reads: number;
  /** Reads that found no value in place: the first ones, of a cache those of unknown, evicted and absent keys. */
  readonly misses: number;
  /** The share of reads that found a value in place, from 0 to 1; `undefined`: there was no read. */
  readonly hitRatio: number | undefined;
  /** Reads that waited for a load, or for another instance. */
  readonly waited: number;
  /**
   * Reads that were refused, and how many with which `code` of the error. Not those of absent keys, wrong arguments, and those
   * that their own signal ended. `getMany` counts each key.
   */
  readonly readsFailed: number;
  readonly readsFailedBy: Readonly<Record<string, number>>;
  /** Reads that were served a value that was due for a reload. */
  readonly servedStale: number;
  /** Reads that found a value older than the `maxStaleness` of the member or of its load. */
  readonly tooStale: number;
  /** Loads that have ended here, also failed ones, each with all its tries. Not those that `set`, a drop or `close` aborted. */
  readonly loads: number;
  /** Those of them that failed or timed out, also before they began: the lock could not be asked. */
  readonly failures: number;
  /** Failures because `schema` or `accept` refused the value. */
  readonly rejections: number;
  /** Loads here that returned `keep()`, or with the option `unchanged` what is in place. */
  readonly kept: number;
  /** Results of other instances that were taken over: snapshots, and confirmations of the value in place. */
  readonly adopted: number;
  /** Leases that this instance took over from one that had crashed or was paused. */
  readonly tookOver: number;
  /** How long those of the loads took that have begun. */
  readonly loading: LoadTimes;
  /** Values that were written to the store or confirmed in it, and the bytes of UTF-8 that this has sent. */
  readonly published: number;
  readonly bytesPublished: number;
  /**
   * Commands to the lock and to the store for this member, each try counted. Of several keys that went in one command each
   * counts. Not the checks of `propagateWithin`, which are for all members together.
   */
  readonly lockCommands: number;
  readonly storeCommands: number;
  /** Values that left a full cache. */
  readonly evicted: number;
}

export function memberStats(counters: Counters): MemberStats {
  const { reads, misses, waited, keptElsewhere, bytesPublished, lockCommands, storeCommands } = counters;
  const of = (type: EventType): number => counters.events[type] ?? 0;
  const kept = of('load-kept') - keptElsewhere;
  const failures = of('load-failed') + of('load-timed-out');
  return Object.freeze({
    reads,
    misses,
    hitRatio: reads === 0 ? undefined : Math.max(0, 1 - misses / reads),
    waited,
    readsFailed: Object.values(counters.readsFailed).reduce((sum, count) => sum + count, 0),
    readsFailedBy: Object.freeze({ ...counters.readsFailed }),
    servedStale: of('stale-served'),
    tooStale: of('too-stale'),
    loads: failures + of('load-succeeded') + kept,
    failures,
    rejections: of('value-rejected'),
    kept,
    adopted: of('snapshot-adopted') + keptElsewhere,
    tookOver: of('took-over'),
    loading: counters.loading.times,
    published: of('published'),
    bytesPublished,
    lockCommands,
    storeCommands,
    evicted: of('evicted'),
  });
}
