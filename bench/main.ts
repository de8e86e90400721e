// The bench. Started by `npm run bench`, which builds tickless and installs the peers first.

import { parseArgs } from 'node:util';
import { apart } from './apart.ts';
import { observeBehaviour } from './behaviour.ts';
import { candidates } from './candidates/index.ts';
import { writeFigures } from './figures.ts';
import { measureFreshReads } from './fresh-read.ts';
import { measureGroupCosts } from './group-cost.ts';
import { measureIdleKeys } from './idle-keys.ts';
import { measureIdleValues } from './idle-values.ts';
import { countKeyed } from './keyed-counts.ts';
import { measureKeyedReads } from './keyed-read.ts';
import { machine } from './machine.ts';
import { measureReloadStalls } from './reload-stall.ts';
import {
  allocationTable,
  behaviourTable,
  freshReadTable,
  groupTable,
  idleKeysTable,
  idleValuesTable,
  keyedCountsTable,
  keyedReadTable,
  loadCostTable,
  reloadLatencyTable,
  reloadStallTable,
  singleReadTable,
  stampedeTable,
} from './tables.ts';

const KEYED_READS = [
  { keys: 1, order: 'as loaded' },
  { keys: 1000, order: 'as loaded' },
  { keys: 100_000, order: 'as loaded' },
  { keys: 100_000, order: 'random' },
] as const;
const IDLE_KEYS = 100_000;
const IDLE_VALUES = 10_000;
const IDLE_MS = 10_000;
const MEMBERS = [10, 1000, 10_000, 100_000];
const REFERENCE_BYTES = 50_000_000;

const { values } = parseArgs({ options: { json: { type: 'string' } } });

console.log(`
Node ${machine.node}, ${machine.cpus} × ${machine.cpu}. All in one process, in turns of some milliseconds; medians.
Absolute times depend on the machine; the ratios are what to look at.
`);

const allocation = apart('allocations');
const freshReads = await measureFreshReads(candidates);
console.log(freshReadTable('Fresh reads without a promise, in a burst', freshReads.sync));
console.log(singleReadTable(freshReads.single));
console.log(freshReadTable('Fresh read, awaited', freshReads.awaited));
console.log(`
A lazy refresher asks a clock, which is most of what its read costs: tickless once for a burst of reads. lru-cache reads
the clock once a millisecond and keeps a timer for that. Targets: in a burst at most half of lru-cache, alone at most
1.15 of the floor, awaited at most 1.05 of a resolved promise.
`);
console.log(allocationTable(allocation));

const keyedReads = await measureKeyedReads(KEYED_READS);
console.log(keyedReadTable('Fresh keyed read, in a loop', keyedReads, 'sync'));
console.log(keyedReadTable('Fresh keyed read, awaited', keyedReads, 'awaited'));
console.log(`
Target: 1.3. The keys are read in the order in which they were loaded, and in the last columns in another.
`);
const idleKeys = measureIdleKeys(IDLE_KEYS);
console.log(idleKeysTable(IDLE_KEYS, idleKeys));
console.log(`
After one read each; each cache in a process of its own. Target: 1.4.
`);
const idleValues = await measureIdleValues(IDLE_VALUES, IDLE_MS);
console.log(
  idleValuesTable(
    `${IDLE_VALUES.toLocaleString('en')} in an idle process, ${IDLE_MS / 1000} seconds`,
    idleValues,
  ),
);
console.log(`
All threads, as the operating system counts. Target: no more than a process that holds plain objects.
`);
const groupCosts = await measureGroupCosts(MEMBERS);
console.log(groupTable(MEMBERS, groupCosts));
console.log(`
Target: below 1.5 for reads.
`);
const keyedCounts = await countKeyed();
console.log(keyedCountsTable(keyedCounts));
const reloadLatencies = apart('reloadLatencies');
console.log(reloadLatencyTable(reloadLatencies));
console.log(`
In a process of their own. A load takes 500 ms, and the next one is due when it ends. Target: p99 at most 2 times that of a fresh read.
`);
const loadCosts = apart('loadCosts');
console.log(loadCostTable(loadCosts));
console.log(`
In a process of their own; the load is an async function that returns at once. Target: 1.3. lru-cache makes an AbortSignal
for each load, which costs most of its time on Node 20, and little from Node 22.
`);
const stampedes = apart('stampedes');
console.log(stampedeTable(stampedes));
console.log(`
In a process of their own. A load takes 20 ms, and none of the processor. Target: one load, and no more time than lru-cache.
`);
const reloadStalls = measureReloadStalls(REFERENCE_BYTES);
console.log(reloadStallTable(REFERENCE_BYTES, reloadStalls));
console.log(`
Each in a process of its own, whose event loop has always something to do. Target: a tenth. "Work" leaves out what other
programs took of the machine.
`);

const behaviour = await observeBehaviour(candidates);
console.log(behaviourTable(behaviour));
console.log(`
outage: 40 reads, 25 ms apart, while the source is down and the period is 20 ms; tickless has its default cool-down.
overlapping: the most loads at one time, when a load takes 600 ms and the period is 100 ms.
10 first reads: at once, with the source down.`);

if (values.json !== undefined) {
  writeFigures(values.json, {
    machine,
    freshReads,
    allocation,
    reloadLatencies,
    loadCosts,
    stampedes,
    keyedReads,
    idleKeys,
    idleValues,
    groupCosts,
    keyedCounts,
    reloadStalls,
    behaviour,
  });
}
process.exit(); // some of the peers keep timers
