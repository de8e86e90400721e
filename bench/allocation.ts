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
 * Measures the clock read alone (in Node it returns a number on the heap) and the fresh reads of tickless in a burst,
 * which make one such clock read for many.
 *
 * Needs `--expose-gc`, and a young generation that holds all of what a million reads allocate
 * (`--min-semi-space-size`), so that no collection comes between the two looks at the heap.
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
  // What the process allocates besides, now and then, only adds: the least of some rounds is the reads' own.
  const rounds = Array.from({ length: ROUNDS }, () => {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const sum = loop(READS);
    const bytes = process.memoryUsage().heapUsed - before;
    if (sum !== READS) throw new Error(`${name} read something else than the value`);
    return bytes / READS;
  });
  return { name, bytes: Math.min(...rounds) };
}
