// Prints the bytes of one idle key in the cache named by the first argument, with as many keys as the second one says.
// A process of its own for each: `node --expose-gc --import tsx main.ts <candidate> <keys>`.

import { setTimeout as sleep } from 'node:timers/promises';
import { fillOf, type Value } from './candidates.ts';

const [name = '', count = ''] = process.argv.slice(2);
const fill = fillOf(name);
const { gc } = globalThis;
if (fill === undefined || gc === undefined) throw new Error('needs the name of a candidate, and --expose-gc');

/** A second collection frees what the first one only prepared: weak references and their targets. */
const COLLECTIONS = 6;

/** Keys and values exist before, and are not counted. */
const source = new Map<string, Value>(Array.from({ length: Number(count) }, (_, i) => [`key:${i}`, { i }]));

/** Lets pending work finish, and collects garbage. */
async function usedBytes(): Promise<number> {
  await sleep(20);
  for (let i = 0; i < COLLECTIONS; i++) gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// The first fill compiles the code and allocates one-time objects. It is dropped.
await fill(source);
const before = await usedBytes();
const cache = (await fill(source)) as { readonly size: number };
const after = await usedBytes();
if (cache.size !== source.size) throw new Error(`${name} holds ${cache.size} of ${source.size} keys`);
console.log((after - before) / source.size);
process.exit(); // lru-cache keeps a timer
