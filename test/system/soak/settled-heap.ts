import { setImmediate as turn } from 'node:timers/promises';

/** One collection leaves things behind that only the finalizers and jobs after it let go. */
const ROUNDS = 3;

/** Forces collections. @returns the bytes in use after the one that left least. */
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
