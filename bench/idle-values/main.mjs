// An idle process with the candidate and the count of its arguments: `node --expose-gc main.mjs <candidate> <count>`.
// It reports when it is ready, and ends when its standard input ends.

import { setTimeout as sleep } from 'node:timers/promises';
import { candidates } from './candidates.mjs';

/** A second collection frees what the first one only prepared: weak references and their targets. */
const COLLECTIONS = 6;

const [name, count] = process.argv.slice(2);
const held = await candidates[name](Number(count));
await sleep(100);
for (let i = 0; i < COLLECTIONS; i++) globalThis.gc();
process.stdin.on('end', () => process.exit(held === null ? 1 : 0)).resume();
process.stdout.write('ready\n');
