// The faults of one engine: `main.ts <engine> [--quick] [--scenario <number>]…`. Tells its parent what came of each
// scenario; `scripts/faults.mjs` is that.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { libfaketime } from '../../processes/faketime.ts';
import { type Engine, openShared } from './clients.ts';
import { startEngine } from './engines.ts';
import { failingLoads } from './failing-loads.ts';
import { Fleet } from './fleet.ts';
import { kills } from './kills.ts';
import { lostReplies } from './lost-replies.ts';
import { outages } from './outages.ts';
import {
  type Figure,
  INSTANCES,
  Judge,
  LEASE,
  type ServedStage,
  STEP_TIMEOUT,
  type Stage,
} from './scenario.ts';
import { stops } from './stops.ts';
import { storms } from './storms.ts';
import { undisturbed } from './undisturbed.ts';

/** A scenario with an engine. */
interface About {
  readonly engine: Engine;
  /** Of the engine, with its name. */
  readonly version: string;
  readonly scenario: number;
  readonly title: string;
}

/** It makes no sense there. Told before the first verdict. */
export interface LeftOut extends About {
  readonly leftOut: string;
}

/** What came of it. */
export interface Verdict extends About {
  readonly isOk: boolean;
  readonly seconds: number;
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
}

interface Scenario {
  readonly number: number;
  readonly title: string;
  play(stage: Stage, judge: Judge): Promise<void>;
  /** Why it is left out with some engines. */
  readonly leftOut?: Partial<Readonly<Record<Engine, string>>>;
}

const NO_SERVER: Scenario['leftOut'] = { sqlite: 'there is no server', file: 'there is no server' };

/** What is done to a server, or on the way to it. */
function served(play: (stage: ServedStage, judge: Judge) => Promise<void>): Scenario['play'] {
  return async (stage, judge) => {
    if (stage.server === undefined) throw new Error('there is no server');
    await play({ ...stage, server: stage.server }, judge);
  };
}

const SCENARIOS: readonly Scenario[] = [
  { number: 1, title: 'undisturbed', play: undisturbed },
  { number: 2, title: 'the holder is killed in mid-load', play: kills },
  { number: 3, title: 'the holder stands still for twice its lease', play: stops },
  {
    number: 4,
    title: 'the server stops, is killed, comes back empty',
    play: served(outages),
    leftOut: NO_SERVER,
  },
  {
    number: 5,
    title: 'wall clocks hours apart',
    play: undisturbed,
    // Files go by the clock that runs since the start of the machine; SQLite has but the wall clock.
    leftOut: {
      sqlite: 'its clock is the wall clock of the machine, and processes of one machine have the same',
    },
  },
  { number: 6, title: 'answers are lost', play: served(lostReplies), leftOut: NO_SERVER },
  { number: 7, title: 'the load of one instance fails', play: failingLoads },
  {
    number: 8,
    title: 'a storm of late, lost and cut answers',
    play: served(storms),
    leftOut: NO_SERVER,
  },
];

/** By how much the wall clock of each instance is off. */
const CLOCKS = ['+0', '+1h', '-1h', '+2h', '-30m', '+1d'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, scenario: { type: 'string', multiple: true } },
});
const engine = positionals[0] as Engine;

/** What the instances have told, line by line, for those who look into a figure. */
const logs = fileURLToPath(new URL('../../../../.tmp/faults', import.meta.url));
mkdirSync(logs, { recursive: true });

const wanted = SCENARIOS.filter(({ number }) => values.scenario?.includes(String(number)) ?? true);
const ready = await startEngine(engine);
const shared = openShared(engine, ready.url, { leaseFor: LEASE, stepTimeout: STEP_TIMEOUT });
let fleet: Fleet | undefined;

function tell(told: Verdict | LeftOut): void {
  process.send?.(told);
  if (process.send === undefined) console.log(JSON.stringify(told, undefined, 2));
}

function about({ number, title }: Scenario): About {
  return { engine, version: ready.label, scenario: number, title };
}

async function playAll(): Promise<void> {
  for (const scenario of wanted) {
    const leftOut = scenario.leftOut?.[engine];
    if (leftOut !== undefined) tell({ ...about(scenario), leftOut });
  }
  const played = wanted.filter((scenario) => scenario.leftOut?.[engine] === undefined);
  // Those with wall clocks of their own come last: they need other processes.
  for (const scenario of played.sort((a, b) => Number(a.number === 5) - Number(b.number === 5))) {
    if (scenario.number === 5) {
      await fleet?.close();
      fleet = undefined;
    }
    fleet ??= await (scenario.number === 5 ? withWrongClocks() : Fleet.start(engine, INSTANCES));
    const judge = new Judge();
    fleet.record(join(logs, `${engine}-${scenario.number}.jsonl`));
    const begunAt = performance.now();
    const isOver = await play(scenario, fleet, judge);
    const { figures, notes } = judge;
    tell({
      ...about(scenario),
      isOk: isOver && !figures.some(({ isBroken }) => isBroken),
      seconds: (performance.now() - begunAt) / 1000,
      figures,
      notes,
    });
    if (isOver) continue;
    await fleet.close(); // what became of its processes is not known
    fleet = undefined;
  }
}

/** @returns whether it came to its end. */
async function play(scenario: Scenario, fleet: Fleet, judge: Judge): Promise<boolean> {
  const share = scenario.number === 5 ? 8 : 4; // most of it is seen in the first scenario
  const count = (full: number): number => (values.quick ? Math.max(1, Math.floor(full / share)) : full);
  const clocks = fleet.heard.flatMap((told) => (told.kind === 'ready' ? [told.wall - told.at] : []));
  try {
    const { url, server } = ready;
    // Where the engine has no clock but that of its clients, tokens are theirs.
    const isOneClock = server !== undefined || scenario.number !== 5;
    await scenario.play({ engine, url, server, shared, fleet, isOneClock, count }, judge);
  } catch (error) {
    judge.notes.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    judge.notes.push(...fleet.heard.slice(-20).map((told) => JSON.stringify(told)));
    return false;
  }
  if (scenario.number === 5) {
    judge.atLeast(
      'hours between the wall clocks',
      (Math.max(...clocks) - Math.min(...clocks)) / 3_600_000,
      1,
    );
  }
  return true;
}

async function withWrongClocks(): Promise<Fleet> {
  const library = await libfaketime();
  return Fleet.start(engine, INSTANCES, (by) => ({
    LD_PRELOAD: library,
    DONT_FAKE_MONOTONIC: '1', // with that faked too, timers would be
    FAKETIME: CLOCKS[by] as string,
  }));
}

async function close(): Promise<void> {
  await fleet?.close();
  await Promise.race([shared.close(), new Promise((resolve) => setTimeout(resolve, 1000))]);
  await ready.close();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void close().finally(() => process.exit(1)));
}
process.once('disconnect', () => void close().finally(() => process.exit(1)));
try {
  await playAll();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
await close();
process.exit();
