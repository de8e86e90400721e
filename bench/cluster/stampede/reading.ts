import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../strategies/strategy.ts';

/** What readers have met. */
export interface Reads {
  readonly reads: number;
  /** Reads that found no value. */
  readonly misses: number;
  /** Reads that waited for longer than a fifth of a load. */
  readonly waits: number;
  /** Of a read. */
  readonly longestWaitMs: number;
  /** The oldest value that a read has brought: milliseconds since the end of its load. */
  readonly oldestMs: number;
}

export const noReads: Reads = { reads: 0, misses: 0, waits: 0, longestWaitMs: 0, oldestMs: 0 };

/** What both have met. */
export function sumOf(a: Reads, b: Reads): Reads {
  return {
    reads: a.reads + b.reads,
    misses: a.misses + b.misses,
    waits: a.waits + b.waits,
    longestWaitMs: Math.max(a.longestWaitMs, b.longestWaitMs),
    oldestMs: Math.max(a.oldestMs, b.oldestMs),
  };
}

/** Between two reads of a worker, at most: so many loads, as the harness of the Internet Archive has it. */
const LONGEST_PAUSE = 2;
/** That part of a load is a wait. */
const WAIT = 1 / 5;

/** What one worker does. The values are the instants at which they were loaded. */
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

/** How long the event loop had nothing to do. Who waits leaves it idle; what others take of the machine is no wait. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle;
}
