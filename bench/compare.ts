// `node scripts/bench.mjs compare`: the behaviour of tickless beside others, as counts, in less than a minute.

import { setTimeout as sleep } from 'node:timers/promises';
import { observeBehaviour } from './behaviour.ts';
import type { Candidate } from './candidates/candidate.ts';
import { candidates } from './candidates/index.ts';
import { table } from './table.ts';
import { behaviourTable } from './tables.ts';

/** Timers that keep the process alive 100 ms after one read. */
async function idleTimers({ open }: Candidate): Promise<number> {
  const count = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = count();
  await open(async () => 1, 60_000).read();
  await sleep(100);
  return count() - before;
}

/** Loads for 40 reads, 25 ms apart, while there is no value and the source is down. */
async function coldOutage({ open }: Candidate): Promise<number> {
  let loads = 0;
  const cache = open(async () => {
    loads += 1;
    throw new Error('source is down');
  }, 1000);
  for (let i = 0; i < 40; i++) {
    await cache.read().catch(() => {});
    await sleep(25);
  }
  return loads;
}

/** One reload never settles, and the source is well again at once: whether a read gets a newer value within 40 s. */
async function afterHang({ open, leastPeriodMs = 100 }: Candidate): Promise<string> {
  let loads = 0;
  const cache = open(async () => (++loads === 2 ? new Promise<number>(() => {}) : loads), leastPeriodMs);
  await cache.read();
  const begun = performance.now();
  while (performance.now() < begun + 40_000) {
    await sleep(leastPeriodMs + 50);
    // A read that waits for that reload is not waited for.
    const read = await Promise.race([cache.read().catch(() => 0), sleep(1000, 0)]);
    if (Number(read) > 2) return `after ${Math.round((performance.now() - begun) / 1000)} s`;
  }
  return 'not within 40 s';
}

const rows: (string | number)[][] = [];
for (const candidate of candidates) rows.push([candidate.name, await idleTimers(candidate)]);
const [behaviour, more] = await Promise.all([
  observeBehaviour(candidates),
  Promise.all(candidates.map(async (each) => [await coldOutage(each), await afterHang(each)])),
]);
console.log(behaviourTable(behaviour));
console.log(
  table(
    ['', 'timers when idle', '40 cold reads, source down', 'fresh again after a reload that hangs'],
    rows.map((row, index) => [...row, ...(more[index] ?? [])]),
  ),
);
process.exit(); // some of the others keep timers
