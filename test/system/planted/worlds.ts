import { expect, inject, it } from 'vitest';
import type { Cluster } from '../simulation/cluster.ts';
import { DataWorld } from '../simulation/data/world.ts';
import { DeployedWorld } from '../simulation/deployed/world.ts';
import { KeysWorld } from '../simulation/keys/world.ts';
import { World } from '../simulation/world.ts';
import { simulation } from './simulation.ts';

// Runs the worlds of seeds, up to the first that sees the fault that is switched on: it makes this test red. What else a world sees is
// no find. Where no fault is switched on, whatever it sees is one.

const fault = simulation.find(({ name }) => globalThis.planted === `simulation: ${name}`);

it('the rules hold', { timeout: 3_600_000 }, async () => {
  let world: Cluster | undefined;
  const kinds = {
    cluster: [World],
    data: [DataWorld],
    keys: [KeysWorld],
    deployed: [DeployedWorld],
    all: [World, DataWorld, KeysWorld, DeployedWorld],
  };
  const of = fault === undefined ? 'all' : (fault.world ?? 'cluster');
  process.on('unhandledRejection', (reason) => {
    world?.referee.holds(6, false, () => `an unhandled rejection: ${reason}`);
  });
  for (const seed of inject('seeds')) {
    for (const Kind of kinds[of]) {
      const next = new Kind(seed);
      world = next;
      const { violation } = await next.run();
      const isFind = violation !== undefined && (fault?.rules.includes(violation.rule) ?? true);
      if (isFind) expect.fail(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
    }
  }
});
