import { BadLoads } from '../../data/watches/bad-loads.ts';
import { Fleet } from '../../data/watches/fleet.ts';
import { Refusals } from '../../data/watches/refusals.ts';
import { KEYS, nameOf } from '../scenario.ts';
import type { KeysWatch } from '../watch.ts';
import type { KeysWorld } from '../world.ts';
import { Guards } from './guards.ts';
import { Marks } from './marks.ts';
import { Promises } from './promises.ts';
import { Reports } from './reports.ts';

/** The watches of a world of keys. */
export function watchesOf(world: KeysWorld): readonly KeysWatch[] {
  const badLoads = new Map(KEYS.map((key) => [key, new BadLoads(world, nameOf(key))]));
  return [
    new Marks(world),
    new Promises(world),
    new Reports(world),
    new Fleet(world),
    new Guards(new Refusals(world), badLoads),
  ];
}
