// Prints the longest stall of the event loop during each of some reloads, in milliseconds: `main.ts here` or `main.ts
// thread`, with FILE and SHAPE in the environment.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshingValue } from '../../dist/index.js';
import { loadInWorker } from '../../dist/worker/index.js';

const RELOADS = 3;
const module = new URL('reference.mjs', import.meta.url);
const { load } = (await import(module.href)) as { load: () => Promise<unknown> };

const value = new RefreshingValue({
  name: 'reference',
  load: process.argv[2] === 'thread' ? loadInWorker(module) : load,
  timeout: { minutes: 5 },
});
await value.get();

/** The processor time of this thread by the counters of Linux, without the time of other programs. */
function workedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

interface Stall {
  elapsed: number;
  worked: number;
}

let longest: Stall = { elapsed: 0, worked: 0 };
let last: Stall = { elapsed: performance.now(), worked: workedMs() };
setImmediate(function turn() {
  const now = { elapsed: performance.now(), worked: workedMs() };
  longest.elapsed = Math.max(longest.elapsed, now.elapsed - last.elapsed);
  longest.worked = Math.max(longest.worked, now.worked - last.worked);
  last = now;
  setImmediate(turn);
});

const stalls: Stall[] = [];
for (let i = 0; i < RELOADS; i++) {
  await sleep(100);
  longest = { elapsed: 0, worked: 0 };
  await value.refresh();
  await sleep(1);
  stalls.push(longest);
}
console.log(JSON.stringify(stalls));
process.exit();
