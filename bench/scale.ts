// Measures how costs grow. Started by `npm run bench:scale`, which builds tickless and installs the peers first.

import { parseArgs } from 'node:util';
import { measureDueCosts } from './due-cost.ts';
import { writeFigures } from './figures.ts';
import { measureGroupCosts } from './group-cost.ts';
import { countInstances } from './instances.ts';
import { measureKeyedReads } from './keyed-read.ts';
import { machine } from './machine.ts';
import { measureReaders } from './readers.ts';
import { dueTable, instancesTable, keysTable, readersTable } from './scale-tables.ts';
import { groupTable } from './tables.ts';

const MEMBERS = [10, 100, 1000, 10_000, 100_000];
const DUE = [1, 10, 100, 1000];
const KEYS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const READERS = [1, 10, 100, 1000, 10_000];
const INSTANCES = [1, 2, 10, 100];

const { values } = parseArgs({ options: { json: { type: 'string' } } });

console.log(`
Node ${machine.node}, ${machine.cpus} × ${machine.cpu}. Medians of turns of some milliseconds.
`);
const groupCosts = await measureGroupCosts(MEMBERS);
console.log(groupTable(MEMBERS, groupCosts));
console.log(`
Target: a fresh read is flat.
`);
globalThis.gc?.();
const dueCosts = await measureDueCosts(MEMBERS.at(-1) as number, DUE);
console.log(dueTable(dueCosts));
console.log(`
Target: k log n for k due of n, so that each of the k costs about the same; their loads are in it.
`);
const keyedReads = await measureKeyedReads(
  KEYS.map((keys) => ({ keys, order: 'random' })),
  ['tickless current(key)', 'tickless get(key)'],
);
console.log(keysTable(keyedReads));
console.log(`
In random order: over many keys both wait for memory.
`);
const readers = await measureReaders(READERS);
console.log(readersTable(readers));
console.log(`
Each has its share of the one load, of which there is less the more they are.
`);
const instances = await countInstances(INSTANCES);
console.log(instancesTable(instances));
console.log(`
Read once a second, with a period of a minute, on a fake clock; the lock and the store are in memory.`);

if (values.json !== undefined) {
  writeFigures(values.json, { machine, groupCosts, dueCosts, keyedReads, readers, instances });
}
process.exit(); // lru-cache keeps timers
