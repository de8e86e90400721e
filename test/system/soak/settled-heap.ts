import { setImmediate as turn } from 'node:timers/promises';

/** A single collection leaves objects that only the finalizers and microtasks after it release. */
const ROUNDS = 3;

/** Forces collections. @returns the least number of used bytes after one of them. */
export async function settledHeap(rounds: number = ROUNDS): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('run node with --expose-gc');
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    gc();
    await turn();
    await turn(); // finalizers run in a task of their own
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}
