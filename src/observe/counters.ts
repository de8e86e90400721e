import { type ExecutionOutcome, OUTCOMES } from '../data/execution-record.ts';
import { isTicklessError } from '../errors.ts';
import { type EventType, ROUND_OUTCOMES, type RoundOutcome } from './events.ts';
import { LoadTimeCounter, type LoadTimes } from './load-times.ts';

/** An entry that is read. */
interface ReadEntry {
  readonly promise: Promise<unknown> | undefined;
}

/** Hears of reads that were refused. */
interface RefusalLog<E> {
  refused(entry: E, error: unknown, times: number): void;
}

/** An end of an execution, a step of a round, or an event that is neither. */
export type Counted = ExecutionOutcome | RoundOutcome | EventType;

/** Counts what happens to one member, by its events and by what emits none. `counts.ts` shows it to people. */
export class Counters {
  /** Reads of all kinds. The coarse clock counts fresh ones. */
  reads: number = 0;
  /** Reads that found no value. */
  misses: number = 0;
  /** Reads that waited for a load. */
  waited: number = 0;
  /** Reads that were refused, by the code of the error. */
  readonly readsFailed: { [code: string]: number } = {};
  bytes: number = 0;
  lockCommands: number = 0;
  storeCommands: number = 0;
  readonly loading: LoadTimeCounter = new LoadTimeCounter();
  /** How often each was emitted. */
  readonly counts: { [word in Counted]?: number } = {};

  /** The readers that wait for one and the same promise, as the last one does: they are counted together. */
  #crowd: { readonly read: Promise<unknown>; size: number } | undefined = undefined;

  count(word: Counted, times: number = 1): void {
    this.counts[word] = (this.counts[word] ?? 0) + times;
  }

  /** A read has begun that is not fresh: its end counts once, and is logged, where it is refused. */
  read<E extends ReadEntry>(read: Promise<unknown>, entry: E, log: RefusalLog<E>): void {
    if (read === entry.promise) return;
    if (this.#crowd?.read === read) this.#crowd.size += 1;
    else this.#countEnd(read, entry, log);
  }

  #countEnd<E extends ReadEntry>(read: Promise<unknown>, entry: E, log: RefusalLog<E>): void {
    const crowd = { read, size: 1 };
    this.#crowd = crowd;
    const ended = (): number => {
      if (this.#crowd === crowd) this.#crowd = undefined; // or its value would be kept
      return crowd.size;
    };
    read.then(ended, (error) => {
      const size = ended();
      this.refused(error, size);
      log.refused(entry, error, size);
    });
  }

  /** Reads were refused. Mistakes, absent keys and the reader's own signal do not count. */
  refused(error: unknown, times?: number): void {
    if (isTicklessError(error) && error.code !== 'OPTION' && error.code !== 'ABSENT')
      this.readFailed(error.code, times);
  }

  readFailed(code: string, times: number = 1): void {
    this.readsFailed[code] = (this.readsFailed[code] ?? 0) + times;
  }
}

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
