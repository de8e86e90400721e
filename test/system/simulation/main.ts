// One process of `npm run simulate`: runs the worlds of the given seeds one after the other, and sends the verdict of each.
//
//   main.ts <first> <step> <count> <seconds>     seeds first, first + step, …; until the time limit
//   main.ts --trace <seed>                       one seed; sends the traces of its worlds too

import type { Cluster } from './cluster.ts';
import { DataWorld } from './data/world.ts';
import { KeysWorld } from './keys/world.ts';
import type { Verdict } from './verdict.ts';
import { World } from './world.ts';

let world: Cluster | undefined;
process.on('unhandledRejection', (reason) => {
  world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
});

/** Runs the worlds of a seed, which share nothing. */
async function run(seed: number, isTraced: boolean): Promise<void> {
  const verdicts: Verdict[] = [];
  for (const Kind of [World, DataWorld, KeysWorld]) {
    const next = new Kind(seed, isTraced);
    world = next;
    verdicts.push(await next.run());
  }
  const sum = (field: 'lasted' | 'steps' | 'loads'): number =>
    verdicts.reduce((total, verdict) => total + verdict[field], 0);
  const verdict = {
    seed,
    violation: verdicts.find(({ violation }) => violation !== undefined)?.violation,
    lasted: sum('lasted'),
    steps: sum('steps'),
    loads: sum('loads'),
    traces: verdicts.map(({ trace }) => trace),
  };
  await new Promise((sent) => process.send?.(verdict, sent));
}

const [first, ...others] = process.argv.slice(2);
if (first === '--trace') {
  await run(Number(others[0]), true);
} else {
  const [step = 1, count = 1, seconds = Infinity] = others.map(Number);
  const begunAt = performance.now();
  for (let index = 0; index < count; index++) {
    if (performance.now() - begunAt > seconds * 1000) break;
    await run(Number(first) + index * step, false);
  }
}
process.disconnect?.();
