import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../strategies/strategy.ts';

/** The experience of readers. */
export interface Reads {
  readonly reads: number;
  /** Reads that found no value. */
  readonly misses: number;
  /** Reads that waited for longer than a fifth of a load. */
  readonly waits: number;
  /** Of a read. */
  readonly longestWaitMs: number;
  /** The age of the oldest returned value: milliseconds since the end of its load. */
  readonly oldestMs: number;
}

export const noReads: Reads = { reads: 0, misses: 0, waits: 0, longestWaitMs: 0, oldestMs: 0 };

/** The sum of both. */
export function sumOf(a: Reads, b: Reads): Reads {
  return {
    reads: a.reads + b.reads,
    misses: a.misses + b.misses,
    waits: a.waits + b.waits,
    longestWaitMs: Math.max(a.longestWaitMs, b.longestWaitMs),
    oldestMs: Math.max(a.oldestMs, b.oldestMs),
  };
}

/** The longest pause between two reads of a worker, in load times; as in the harness of the Internet Archive. */
const LONGEST_PAUSE = 2;
/** A read that takes longer than this part of a load counts as a wait. */
const WAIT = 1 / 5;

/** The work of one worker. The values are the instants of their loads. */
export async function readUntil(endAt: number, reader: Reader, loadMs: number): Promise<Reads> {
  let all = noReads;
  for (;;) {
    await sleep(Math.random() * LONGEST_PAUSE * loadMs);
    if (performance.now() >= endAt) return all;
    const idleBefore = idleMs();
    const { value, isMiss } = await reader.read();
    const waited = idleMs() - idleBefore;
    all = sumOf(all, {
      reads: 1,
      misses: isMiss ? 1 : 0,
      waits: waited > WAIT * loadMs ? 1 : 0,
      longestWaitMs: waited,
      oldestMs: Date.now() - Number(value),
    });
  }
}

/** The idle time of the event loop. A reader that waits leaves it idle; time of other programs is not idle time. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle;
}
