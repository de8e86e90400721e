// One process of `npm run simulate`: runs the worlds of the given seeds one after the other, and sends the verdict of each.
// Of a world that breaks a rule it also sends the trace.
//
//   main.ts <seed>…             those seeds
//   main.ts --trace <seed>…     the same, with the traces of all their worlds

import type { Cluster } from './cluster.ts';
import { DataWorld } from './data/world.ts';
import { DeployedWorld } from './deployed/world.ts';
import { KeysWorld } from './keys/world.ts';
import type { Verdict } from './verdict.ts';
import { World } from './world.ts';

process.on('disconnect', () => process.exit()); // the program that reads the verdicts has ended

let world: Cluster | undefined;
process.on('unhandledRejection', (reason) => {
  world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
});

type Kind = typeof World | typeof DataWorld | typeof KeysWorld | typeof DeployedWorld;

function runWorld(Kind: Kind, seed: number, isTraced: boolean): Promise<Verdict> {
  const next = new Kind(seed, isTraced);
  world = next;
  return next.run();
}

/** Runs the worlds of a seed, which share nothing. */
async function run(seed: number, isTraced: boolean): Promise<void> {
  const verdicts: Verdict[] = [];
  for (const Kind of [World, DataWorld, KeysWorld, DeployedWorld]) {
    const verdict = await runWorld(Kind, seed, isTraced);
    const isBroken = verdict.violation !== undefined && !isTraced;
    verdicts.push(isBroken ? await runWorld(Kind, seed, true) : verdict); // the same once more, with its trace
  }
  const sum = (field: 'lasted' | 'steps' | 'loads'): number =>
    verdicts.reduce((total, verdict) => total + verdict[field], 0);
  const broken = verdicts.find(({ violation }) => violation !== undefined);
  const verdict = {
    seed,
    violation: broken?.violation,
    lasted: sum('lasted'),
    steps: sum('steps'),
    loads: sum('loads'),
    traces: isTraced ? verdicts.map(({ trace }) => trace) : [],
    brokenTrace: broken?.trace ?? [],
  };
  await new Promise((sent) => process.send?.(verdict, sent));
}

const [first, ...others] = process.argv.slice(2);
const isTraced = first === '--trace';
for (const seed of isTraced ? others : [first, ...others]) await run(Number(seed), isTraced);
process.disconnect?.();
