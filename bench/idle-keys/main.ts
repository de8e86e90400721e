// Prints how many bytes one idle key costs in the cache that the first argument names, of so many as the second says.
// A process of its own for each: `node --expose-gc --import tsx main.ts <candidate> <keys>`.

import { setTimeout as sleep } from 'node:timers/promises';
import { fillOf, type Value } from './candidates.ts';

const [name = '', count = ''] = process.argv.slice(2);
const fill = fillOf(name);
const { gc } = globalThis;
if (fill === undefined || gc === undefined) throw new Error('needs the name of a candidate, and --expose-gc');

/** One collection leaves what only the next can free: weak references, and what they held. */
const COLLECTIONS = 6;

/** Keys and values are there before, and are not counted. */
const source = new Map<string, Value>(Array.from({ length: Number(count) }, (_, i) => [`key:${i}`, { i }]));

/** Lets what is under way end, as all does in an idle process, and what is not held be collected. */
async function usedBytes(): Promise<number> {
  await sleep(20);
  for (let i = 0; i < COLLECTIONS; i++) gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// The first fill has the code compiled, and all that is made once. It is not held.
await fill(source);
const before = await usedBytes();
const cache = (await fill(source)) as { readonly size: number };
const after = await usedBytes();
if (cache.size !== source.size) throw new Error(`${name} holds ${cache.size} of ${source.size} keys`);
console.log((after - before) / source.size);
process.exit(); // lru-cache keeps a timer
