import type { RefreshingValue } from '../../../src/index.ts';
import type { Caller } from './caller.ts';
import { type Instance, KEYS } from './instance.ts';
import type { Random } from './random.ts';
import type { Loaded, Subject } from './subject.ts';
import type { World } from './world.ts';

/** The target of a deed: a random instance, one of its values and one of its keys. */
export interface Scene {
  readonly world: World;
  readonly caller: Caller;
  readonly instance: Instance;
  readonly value: RefreshingValue<Loaded>;
  readonly subject: Subject;
  readonly key: string;
  readonly ofKey: Subject;
}

/** An action, and its relative frequency. */
export interface Deed<S> {
  readonly weight: number;
  readonly act: (scene: S) => void;
}

/** Picks one at random, in proportion to the weights. */
export function drawDeed<S>(deeds: Readonly<Record<string, Deed<S>>>, random: Random): Deed<S> {
  const weights = Object.fromEntries(Object.entries(deeds).map(([name, { weight }]) => [name, weight]));
  return deeds[random.weighted(weights)] as Deed<S>;
}

export function drawScene(world: World, caller: Caller, instance: Instance): Scene {
  const { random } = world;
  const name = random.pick(['rates', 'rates', 'local', 'calendar'] as const);
  const key = random.pick(KEYS);
  return {
    world,
    caller,
    instance,
    value: instance[name],
    subject: instance.subject(name),
    key,
    ofKey: instance.subject(`codes[${key}]`),
  };
}
