// A cluster of services in virtual time: `main.ts [--minutes N] [--seed N] [--samples N] [--growth RATIO]`, run by Node
// with --expose-gc. Prints its verdict as one line of JSON, and must exit by itself.

import { getEventListeners, setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listenForComplaints } from '../complaints.ts';
import { quartersOf, SAMPLES, type Sample } from '../samples.ts';
import { settledHeap } from '../settled-heap.ts';
import { added, atLeast, type Check, flatness, MOST_GROWTH, none, type Verdict } from '../verdict.ts';
import { Fleet } from './fleet.ts';
import { World } from './world.ts';

const STEP_MS = 100;
const READS_PER_STEP = 8;
/** The longest duration of anything that a caller starts. */
const CALM_MS = 40_000;
/** Finalizers are not guaranteed to run; after this many collections all have run. */
const LAST_ROUNDS = 20;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    samples: { type: 'string', default: `${SAMPLES}` },
    growth: { type: 'string', default: `${MOST_GROWTH}` },
  },
});
const virtualMs = Number(values.minutes) * 60_000;

const complaints = listenForComplaints();

const resourcesBefore = process.getActiveResourcesInfo();

/** @param checks gets the checks of a pause: all members are open, and there are no reads. */
async function soak(world: World, checks: Check[]): Promise<Sample[]> {
  const samples: Sample[] = [];
  const fleet = new Fleet(world);
  const steps = Math.round(virtualMs / STEP_MS);
  for (let step = 1; step <= steps; step++) {
    fleet.step(READS_PER_STEP);
    await world.clock.advance(STEP_MS);
    if (Math.floor((step * Number(values.samples)) / steps) > samples.length)
      samples.push(await sample(world));
  }
  fleet.mend();
  await world.clock.advance(CALM_MS);
  checks.push(...(await whileNobodyReads(world, fleet)));
  const closed = fleet.close();
  await world.clock.advance(CALM_MS);
  await closed;
  return samples;
}

/**
 * All members are open, and no work is pending: the numbers of these kinds have an exact right value, whatever happened
 * before. So each leaked object is found, which a comparison of quarters would miss among the varying numbers, and
 * which
 * is gone after the end with the member that has kept it. The numbers of values and of signals of loads depend on
 * entries
 * and failures: those are checked by the quarters and at the end.
 */
async function whileNobodyReads({ census, clock, longLived }: World, { services }: Fleet): Promise<Check[]> {
  await settledHeap(LAST_ROUNDS);
  const { live } = census;
  const open = services.flatMap(({ members }) => members).length;
  const kinds = ['signals of requests', 'listeners of events', 'loads of passing members'];
  return [
    none('timers without reads', clock.timerCount),
    none("listeners on a caller's signal without reads", getEventListeners(longLived.signal, 'abort').length),
    none('members beside the open ones', (live.members ?? 0) - open),
    ...kinds.map((kind) => none(`${kind} without reads`, live[kind] ?? 0)),
  ];
}

async function sample({ census, clock, longLived, tally }: World): Promise<Sample> {
  const heap = await settledHeap();
  const listeners = getEventListeners(longLived.signal, 'abort').length;
  return {
    heap,
    live: { ...census.live, 'listeners of the caller': listeners, timers: clock.timerCount },
    done: { ...tally, 'ms of processor': processorMs() },
  };
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}

async function leftovers({ census, clock, longLived }: World): Promise<Check[]> {
  await settledHeap(LAST_ROUNDS);
  await turn();
  const resources = process.getActiveResourcesInfo();
  return [
    none('timers left', clock.timerCount),
    none("listeners left on a caller's signal", getEventListeners(longLived.signal, 'abort').length),
    ...Object.entries(census.live).map(([kind, count]) => none(`${kind} left`, count)),
    none('handles and requests left', added(resourcesBefore, resources)),
    ...complaints(),
  ];
}

const world = new World(Number(values.seed));
setMaxListeners(0, world.longLived.signal); // one for each entry with a waiting reader
const checks: Check[] = [];
const samples = await soak(world, checks);
const quarters = quartersOf(samples);
const { tally } = world;
const verdict: Verdict = {
  part: 'virtual',
  samples,
  quarters,
  notes: [],
  checks: [
    ...flatness(quarters, Number(values.growth)),
    ...checks,
    ...(await leftovers(world)),
    atLeast('reads', tally.reads, 500 * Number(values.minutes)),
    atLeast('failed loads', tally['failed loads'], 10 * Number(values.minutes)),
    atLeast('engine faults', tally['engine faults'], 10 * Number(values.minutes)),
  ],
};
console.log(JSON.stringify(verdict));
