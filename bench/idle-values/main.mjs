// A process that is idle, with so many of what its first argument names: `node --expose-gc main.mjs <candidate> <count>`.
// It says when it is ready, and ends when its standard input does.

import { setTimeout as sleep } from 'node:timers/promises';
import { candidates } from './candidates.mjs';

/** One collection leaves what only the next can free: weak references, and what they held. */
const COLLECTIONS = 6;

const [name, count] = process.argv.slice(2);
const held = await candidates[name](Number(count));
await sleep(100);
for (let i = 0; i < COLLECTIONS; i++) globalThis.gc();
process.stdin.on('end', () => process.exit(held === null ? 1 : 0)).resume();
process.stdout.write('ready\n');
