// Prints the longest stall of the event loop during each of some reloads, in milliseconds, with FILE and SHAPE in the
// environment: `main.ts here`, `thread`, `publish` (a thread, and a backend of files) or `adopt` (from that backend).

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileBackend } from '../../dist/backends/file.js';
import { RefreshingValue } from '../../dist/index.js';
import { loadInWorker } from '../../dist/worker/index.js';

const RELOADS = 3;
const module = new URL('reference.mjs', import.meta.url);
const { load } = (await import(module.href)) as { load: () => Promise<unknown> };

const [, , place, directory = ''] = process.argv;
const backend = place === 'publish' || place === 'adopt' ? fileBackend({ directory }) : undefined;

function newValue(): RefreshingValue<unknown> {
  return new RefreshingValue({
    name: 'reference',
    load: place === 'here' ? load : loadInWorker(module),
    timeout: { minutes: 5 },
    backend,
  });
}

const value = newValue();
await value.refresh();

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
  await (place === 'adopt' ? newValue().get() : value.refresh());
  await sleep(1);
  stalls.push(longest);
}
console.log(JSON.stringify(stalls));
process.exit();
