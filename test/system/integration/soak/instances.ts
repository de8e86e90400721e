// The process that soaks: `instances.ts <seconds> <origin's port> <Redis' URL> <PostgreSQL's URL>`, run by Node with
// --expose-gc. Tells what it sees as lines of JSON, and has to end by itself.

import { getEventListeners, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { liveTimerCount } from '../../processes/fixtures/live-timers.ts';
import { Random } from '../../simulation/random.ts';
import { Census } from '../../soak/census.ts';
import { listenForComplaints } from '../../soak/complaints.ts';
import { SAMPLES } from '../../soak/samples.ts';
import { settledHeap } from '../../soak/settled-heap.ts';
import { added, none } from '../../soak/verdict.ts';
import { Instance, type Surroundings, type Tally } from './instance.ts';
import { LOOK_FOR_MS, type Told } from './told.ts';
import { Traffic } from './traffic.ts';

const STEP_MS = 20;
const READS_PER_STEP = 12;
/** One of them is replaced by a new one with a new client. */
const REPLACED_EVERY_MS = 5000;
const LAST_ROUNDS = 20;

const [seconds, originPort, redisUrl, postgresUrl] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
];
const ENGINES = [
  ['redis', redisUrl],
  ['redis', redisUrl],
  ['redis', redisUrl],
  ['postgres', postgresUrl],
  ['postgres', postgresUrl],
] as const;
/** The first of each engine stay to the end. */
const PASSING = [2, 4];

const complaints = listenForComplaints();

const census = new Census();
const tally: Tally = { reads: 0, rejected: 0, loads: 0, 'failed loads': 0, events: 0, closes: 0 };
const surroundings: Surroundings = { census, tally, originPort: Number(originPort) };
const longLived = new AbortController();
setMaxListeners(0, longLived.signal); // one for each entry with a reader that waits

const tell = (told: Told): void => console.log(JSON.stringify(told));
const listeners = (): number => getEventListeners(longLived.signal, 'abort').length;
const sockets = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

tell({ kind: 'begun' }); // so that its pipe is among what was there before
const resourcesBefore = process.getActiveResourcesInfo();
const timersBefore = liveTimerCount();

async function soak(): Promise<void> {
  const traffic = new Traffic(new Random(1), tally, census, longLived.signal);
  const instances = ENGINES.map(([engine, url]) => new Instance(surroundings, engine, url));
  const closing = new Set<Promise<void>>();
  const begunAt = performance.now();
  const durationMs = Number(seconds) * 1000;
  let samples = 0;
  let replaced = 0;
  for (let spent = 0; spent < durationMs; spent = performance.now() - begunAt) {
    for (const instance of instances) traffic.go(instance, READS_PER_STEP);
    await sleep(STEP_MS);
    if (Math.floor((spent * SAMPLES) / durationMs) > samples) {
      samples += 1;
      await sample();
    }
    if (spent < (replaced + 1) * REPLACED_EVERY_MS) continue;
    const number = PASSING[replaced % PASSING.length] as number;
    const closed = (instances[number] as Instance).close().finally(() => closing.delete(closed));
    closing.add(closed);
    const [engine, url] = ENGINES[number] as (typeof ENGINES)[number];
    instances[number] = new Instance(surroundings, engine, url);
    replaced += 1;
  }
  await Promise.all([...instances.map((instance) => instance.close()), ...closing]);
}

async function sample(): Promise<void> {
  const heap = await settledHeap();
  const live = {
    ...census.live,
    'listeners of the caller': listeners(),
    timers: liveTimerCount(),
    sockets: sockets(),
  };
  tell({ kind: 'sample', sample: { heap, live, done: { ...tally, 'ms of processor': processorMs() } } });
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}

await soak();
tell({ kind: 'closed' });
await sleep(LOOK_FOR_MS);
await settledHeap(LAST_ROUNDS);
tell({
  kind: 'over',
  cpu: processorMs() / 1000 / process.uptime(),
  checks: [
    none('timers left', liveTimerCount() - timersBefore),
    none("listeners left on a caller's signal", listeners()),
    ...Object.entries(census.live).map(([kind, count]) => none(`${kind} left`, count)),
    none('handles and requests left', added(resourcesBefore, process.getActiveResourcesInfo())),
    ...complaints(),
  ],
});
