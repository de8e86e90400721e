import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';
import { BadLoads } from './bad-loads.ts';
import { Fleet } from './fleet.ts';
import { Marks } from './marks.ts';
import { Pins } from './pins.ts';
import { Previous } from './previous.ts';
import { Promises } from './promises.ts';
import { Refusals } from './refusals.ts';
import { RefusedValues } from './refused-values.ts';
import { Reports } from './reports.ts';
import { SignalledChecks } from './signals.ts';
import { Versions } from './versions.ts';

/** The watches of a data world. Those of what comes next belong here too. */
export function watchesOf(world: DataWorld): readonly DataWatch[] {
  const { marks, scenario } = world;
  const { hasAccept, hasLock, hasPins, hasStore } = scenario;
  return [
    world.shelf,
    new Refusals(world),
    new RefusedValues(world),
    ...(hasAccept ? [new Previous(world)] : []),
    ...(hasLock ? [new BadLoads(world)] : []),
    new Versions(world),
    new Promises(world),
    ...(marks.isMarked ? [new Marks(world)] : []),
    ...(world.signals !== undefined ? [new SignalledChecks(world)] : []),
    ...(hasStore ? [new Reports(world), new Fleet(world)] : []),
    ...(hasPins ? [new Pins(world)] : []),
  ];
}
