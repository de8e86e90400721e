// The bench. Started by `npm run bench`, which builds tickless and installs the peers first.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAllocation } from './allocation.ts';
import { observeBehaviour } from './behaviour.ts';
import { candidates } from './candidates/index.ts';
import { measureFreshReads } from './fresh-read.ts';
import { measureGroupCosts } from './group-cost.ts';
import { measureIdleKeys } from './idle-keys.ts';
import { countKeyed } from './keyed-counts.ts';
import { measureKeyedReads } from './keyed-read.ts';
import { measureReloadStalls } from './reload-stall.ts';
import {
  allocationTable,
  behaviourTable,
  freshReadTable,
  groupTable,
  idleKeysTable,
  keyedCountsTable,
  keyedReadTable,
  reloadStallTable,
} from './tables.ts';

const KEYED_READS = [
  { keys: 1, order: 'as loaded' },
  { keys: 1000, order: 'as loaded' },
  { keys: 100_000, order: 'as loaded' },
  { keys: 100_000, order: 'random' },
] as const;
const IDLE_KEYS = 100_000;
const MEMBERS = [10, 1000, 10_000, 100_000];
const REFERENCE_BYTES = 50_000_000;

const { values } = parseArgs({ options: { json: { type: 'string' } } });

const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cpus: cpus().length };
console.log(`
Node ${machine.node}, ${machine.cpus} × ${machine.cpu}. All in one process, in turns of some milliseconds; medians.
Absolute times depend on the machine; the ratios are what to look at.
`);

const allocation = await measureAllocation();
const freshReads = await measureFreshReads(candidates);
console.log(freshReadTable('Fresh read without a promise', freshReads.sync));
console.log(freshReadTable('Fresh read, awaited', freshReads.awaited));
console.log(`
A lazy refresher looks at a clock at each read; that is most of what its read costs ("clock + resolved promise").
lru-cache reads the clock once a millisecond and keeps a timer for that.
`);
console.log(allocationTable(allocation));

const keyedReads = await measureKeyedReads(KEYED_READS);
console.log(keyedReadTable('Fresh keyed read, in a loop', keyedReads, 'sync'));
console.log(keyedReadTable('Fresh keyed read, awaited', keyedReads, 'awaited'));
console.log(`
In a loop tickless looks at the clock once for a burst of reads; awaited, at each. Target: 1.5 for 100,000 keys. The
keys are read in the order in which they were loaded, and in the last columns in another.
`);
const idleKeys = measureIdleKeys(IDLE_KEYS);
console.log(idleKeysTable(IDLE_KEYS, idleKeys));
console.log(`
After one read each; each cache in a process of its own. Target: 1.5.
`);
const groupCosts = await measureGroupCosts(MEMBERS);
console.log(groupTable(MEMBERS, groupCosts));
console.log(`
Target: below 1.5 for reads.
`);
const keyedCounts = await countKeyed();
console.log(keyedCountsTable(keyedCounts));
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
  const figures = {
    machine,
    freshReads,
    allocation,
    keyedReads,
    idleKeys,
    groupCosts,
    keyedCounts,
    reloadStalls,
    behaviour,
  };
  writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
}
process.exit(); // some of the peers keep timers
