import {
  absent,
  type KeyContext,
  type KeyedLoadReturn,
  keep,
  type LoadContext,
  loaded,
} from '../../../../src/index.ts';
import type { World } from './world.ts';

/** The loaded value: large enough to show in the heap, and plain data for the store. */
export interface Payload {
  readonly id: number;
  readonly words: readonly number[];
}

/** Longer than any regular load; shorter than those that end too late. */
export const TIMEOUT_MS = 2000;
const TAGS = ['nl', 'be', 'de', 'fr'];

const FATES = {
  returns: 60,
  'returns at once': 8,
  'keeps the value': 8,
  rejects: 6,
  throws: 4,
  'hangs until it is aborted': 3,
  'never settles': 2,
  'comes too late': 3,
  'returns a then that throws': 1,
  'returns nothing': 1,
  'returns metadata': 6,
} as const;
const OUTAGE = { rejects: 6, throws: 2, 'hangs until it is aborted': 1, returns: 1 } as const;

export function payload({ census, tally }: World): Payload {
  return census.add('values', { id: tally.loads, words: new Array<number>(64).fill(tally.loads) });
}

/** A load with a random outcome. */
export function load(
  world: World,
  { signal, previous }: Pick<LoadContext<Payload>, 'signal' | 'previous'>,
): KeyedLoadReturn<Payload> | PromiseLike<KeyedLoadReturn<Payload>> {
  const { dice, tally, census } = world;
  tally.loads += 1;
  census.add('signals of loads', signal);
  const bring = async (ms: number): Promise<Payload> => {
    await world.after(ms);
    return payload(world);
  };
  const fail = (): Error => {
    tally['failed loads'] += 1;
    return new Error('the source fails');
  };
  switch (dice.weighted<keyof typeof FATES>(world.isSourceDown ? (OUTAGE as never) : FATES)) {
    case 'returns':
      return bring(dice.between(1, 150));
    case 'returns at once':
      return payload(world);
    case 'keeps the value':
      return previous === undefined ? bring(1) : Promise.resolve(keep());
    case 'rejects':
      return world.after(dice.between(1, 50)).then(() => Promise.reject(fail()));
    case 'throws':
      throw fail();
    case 'hangs until it is aborted':
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    case 'never settles':
      return new Promise(() => {});
    case 'comes too late':
      return bring(1.5 * TIMEOUT_MS);
    case 'returns a then that throws':
      return {
        then: () => {
          throw fail();
        },
      };
    case 'returns nothing':
      return Promise.resolve(undefined as never);
    case 'returns metadata':
      return bring(20).then((value) => {
        const dueAfter = dice.between(100, 5000);
        return loaded(value, dice.chance(1 / 2) ? { dueAfter } : { maxStaleness: 5000 });
      });
  }
}

/** The same for a key. Each tenth key is absent at the source. */
export function loadKey(
  world: World,
  key: number,
  context: Pick<KeyContext<number, Payload>, 'signal' | 'previous'>,
): KeyedLoadReturn<Payload> | PromiseLike<KeyedLoadReturn<Payload>> {
  if (key % 10 !== 0) {
    return world.dice.chance(1 / 3)
      ? world.after(20).then(() => loaded(payload(world), { tags: [TAGS[key % 4] as string] }))
      : load(world, context);
  }
  world.tally.loads += 1;
  return absent();
}
