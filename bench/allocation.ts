import { RefreshingCache } from '../dist/index.js';
import { KEEP_MS } from './candidates/candidate.ts';
import { tickless } from './candidates/tickless.ts';
import { syncLoop } from './loop.ts';

/** Bytes that one fresh read allocates. */
export interface Allocation {
  readonly name: string;
  readonly bytes: number;
}

const READS = 1_000_000;
const WARM_UP_ROUNDS = 8;
const ROUNDS = 5;

/**
 * Measures a clock reading alone (in Node it returns a number on the heap) and fresh reads of tickless in a burst,
 * which share one clock reading among many.
 *
 * Needs `--expose-gc`, and a young generation that is large enough for the allocations of a million reads
 * (`--min-semi-space-size`), so that no collection happens between the two measurements of the heap.
 */
export async function measureAllocation(): Promise<Allocation[]> {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  const { read, readNow = read } = tickless.open(async () => 1, KEEP_MS);
  await read();
  const promise = read();
  const cache = new RefreshingCache({ name: 'bench', load: (_key: string) => 1, schedule: KEEP_MS });
  cache.current('key');
  return [
    bytesPerRead('performance.now() alone', () => (performance.now() >= 0 ? 1 : 0)),
    bytesPerRead('tickless current', () => readNow() as number),
    bytesPerRead('tickless get()', () => (read() === promise ? 1 : 0)),
    bytesPerRead('tickless current(key)', () => cache.current('key')),
  ];
}

/** @param read returns 1, so that a wrong read shows in the sum. */
function bytesPerRead(name: string, read: () => number): Allocation {
  const loop = syncLoop(read);
  for (let round = 0; round < WARM_UP_ROUNDS; round++) loop(READS);
  // Other allocations of the process only add to the figure, so the least of several rounds is that of the reads.
  const rounds = Array.from({ length: ROUNDS }, () => {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const sum = loop(READS);
    const bytes = process.memoryUsage().heapUsed - before;
    if (sum !== READS) throw new Error(`${name} returned a wrong value`);
    return bytes / READS;
  });
  return { name, bytes: Math.min(...rounds) };
}
