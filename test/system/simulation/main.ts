// One process of `npm run simulate`: runs the given seeds one after the other, and sends the verdict of each.
//
//   main.ts <first> <step> <count> <seconds>     seeds first, first + step, …; until the time limit
//   main.ts --trace <seed>                       one seed; sends its trace too

import type { Verdict } from './verdict.ts';
import { World } from './world.ts';

let world: World | undefined;
process.on('unhandledRejection', (reason) => {
  world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
});

async function run(seed: number, isTraced: boolean): Promise<void> {
  world = new World(seed, isTraced);
  const verdict: Verdict = await world.run();
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
