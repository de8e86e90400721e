import type { Clock } from '../time/clock.ts';
import { KnownClock } from './cells/known-clock.ts';
import { MemoryCells } from './cells/memory-cells.ts';
import { SwappedRecords } from './cells/swapped-records.ts';

/** Records in the memory of this process. @param now epoch milliseconds. @default as `clock` began: no lease ends as it is set */
export function memoryRecords(clock: Clock, now: () => number = clockOf(clock)): SwappedRecords {
  const known = new KnownClock(() => clock.monotonic(), true);
  known.learnTime(now(), known.now());
  return new SwappedRecords(new MemoryCells(now), Infinity, known);
}

function clockOf(clock: Clock): () => number {
  const aheadMs = clock.now() - clock.monotonic();
  return () => aheadMs + clock.monotonic();
}
