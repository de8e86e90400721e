// The cost of a load: `node scripts/bench.mjs load`, with the Node that is to be measured.

import { measureLoadCosts } from './load-cost.ts';
import { machine } from './machine.ts';
import { loadCostTable } from './tables.ts';

console.log(`\nNode ${machine.node}, ${machine.cpus} × ${machine.cpu}. Medians of rounds of 1,000 keys.\n`);
console.log(loadCostTable(await measureLoadCosts()));
