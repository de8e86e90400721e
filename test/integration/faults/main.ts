// The faults of one engine: `main.ts <engine> [--quick] [--scenario <number>]…`. Tells its parent what came of each
// scenario; `scripts/faults.mjs` is that.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { libfaketime } from '../../processes/faketime.ts';
import { type Engine, openShared, startEngine } from './clients.ts';
import { failingLoads } from './failing-loads.ts';
import { Fleet } from './fleet.ts';
import { kills } from './kills.ts';
import { lostReplies } from './lost-replies.ts';
import { outages } from './outages.ts';
import { type Figure, INSTANCES, Judge, LEASE, STEP_TIMEOUT, type Stage } from './scenario.ts';
import { stops } from './stops.ts';
import { undisturbed } from './undisturbed.ts';

/** What came of a scenario. */
export interface Verdict {
  readonly engine: Engine;
  /** Of the server. */
  readonly version: string;
  readonly scenario: number;
  readonly title: string;
  readonly isOk: boolean;
  readonly seconds: number;
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
}

interface Scenario {
  readonly number: number;
  readonly title: string;
  play(stage: Stage, judge: Judge): Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  { number: 1, title: 'undisturbed', play: undisturbed },
  { number: 2, title: 'the holder is killed in mid-load', play: kills },
  { number: 3, title: 'the holder stands still for twice its lease', play: stops },
  { number: 4, title: 'the server stops, is killed, comes back empty', play: outages },
  { number: 5, title: 'wall clocks hours apart', play: undisturbed },
  { number: 6, title: 'answers are lost', play: lostReplies },
  { number: 7, title: 'the load of one instance fails', play: failingLoads },
];

/** By how much the wall clock of each instance is off. */
const CLOCKS = ['+0', '+1h', '-1h', '+2h', '-30m', '+1d'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, scenario: { type: 'string', multiple: true } },
});
const engine = positionals[0] as Engine;
const isWanted = ({ number }: Scenario): boolean => values.scenario?.includes(String(number)) ?? true;

/** What the instances have told, line by line, for those who look into a figure. */
const logs = fileURLToPath(new URL('../../../.tmp/faults', import.meta.url));
mkdirSync(logs, { recursive: true });

const server = await startEngine(engine);
const shared = openShared(engine, server.url, { leaseFor: LEASE, stepTimeout: STEP_TIMEOUT });
let fleet: Fleet | undefined;

async function playAll(): Promise<void> {
  // Those with wall clocks of their own come last: they need other processes.
  const wanted = SCENARIOS.filter(isWanted).sort((a, b) => Number(a.number === 5) - Number(b.number === 5));
  for (const scenario of wanted) {
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
    const verdict: Verdict = {
      engine,
      version: `${server.label} ${server.version}`,
      scenario: scenario.number,
      title: scenario.title,
      isOk: isOver && !figures.some(({ isBroken }) => isBroken),
      seconds: (performance.now() - begunAt) / 1000,
      figures,
      notes,
    };
    process.send?.(verdict);
    if (process.send === undefined) console.log(JSON.stringify(verdict, undefined, 2));
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
    await scenario.play({ engine, server, shared, fleet, count }, judge);
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

function withWrongClocks(): Promise<Fleet> {
  const library = libfaketime();
  return Fleet.start(engine, INSTANCES, (by) => ({
    LD_PRELOAD: library,
    DONT_FAKE_MONOTONIC: '1', // with that faked too, timers would be
    FAKETIME: CLOCKS[by] as string,
  }));
}

async function close(): Promise<void> {
  await fleet?.close();
  await Promise.race([shared.close(), new Promise((resolve) => setTimeout(resolve, 1000))]);
  await server.close();
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
