import { expect, inject, it } from 'vitest';
import { World } from '../simulation/world.ts';
import { simulation } from './simulation.ts';

// The worlds that are to see the fault that is switched on: red is a fault that was seen. Without a fault: all of them, and
// none may be red.

const fault = simulation.find(({ name }) => name === globalThis.planted);
const most = inject('seeds');
const recorded = fault === undefined ? simulation.flatMap(({ seeds }) => seeds) : fault.seeds;
const seeds = most === undefined ? new Set(recorded) : Array.from({ length: most }, (_, index) => index + 1);

it('the rules hold', { timeout: 600_000 }, async () => {
  let world: World | undefined;
  process.on('unhandledRejection', (reason) => {
    world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
  });
  for (const seed of seeds) {
    world = new World(seed);
    const { violation } = await world.run();
    // What else is seen of a fault is no find.
    const isFind = violation !== undefined && (fault?.rules.includes(violation.rule) ?? true);
    if (isFind) expect.fail(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
  }
});
