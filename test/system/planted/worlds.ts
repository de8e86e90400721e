import { expect, inject, it } from 'vitest';
import { World } from '../simulation/world.ts';
import { simulation } from './simulation.ts';

// Runs worlds, up to the first that sees the fault that is switched on: it makes this test red. What else a world sees is
// no find. Where no fault is switched on, whatever it sees is one.

const fault = simulation.find(({ name }) => globalThis.planted === `simulation: ${name}`);

it('the rules hold', { timeout: 3_600_000 }, async () => {
  let world: World | undefined;
  process.on('unhandledRejection', (reason) => {
    world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
  });
  for (const seed of inject('seeds')) {
    world = new World(seed);
    const { violation } = await world.run();
    const isFind = violation !== undefined && (fault?.rules.includes(violation.rule) ?? true);
    if (isFind) expect.fail(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
  }
});
