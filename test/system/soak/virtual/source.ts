import {
  absent,
  type KeyContext,
  type KeyedAnswer,
  keep,
  type LoadContext,
  loaded,
} from '../../../../src/index.ts';
import type { World } from './world.ts';

/** What is loaded: large enough for a heap to show where it is kept, plain enough for a store. */
export interface Payload {
  readonly id: number;
  readonly words: readonly number[];
}

/** Longer than any load that means to end; shorter than those that come too late. */
export const TIMEOUT_MS = 2000;
const TAGS = ['nl', 'be', 'de', 'fr'];

const FATES = {
  brings: 60,
  'brings at once': 8,
  'keeps what there is': 8,
  rejects: 6,
  throws: 4,
  'hangs until it is aborted': 3,
  'never settles': 2,
  'comes too late': 3,
  'has a then that throws': 1,
  'brings nothing': 1,
  'says more': 6,
} as const;
const OUTAGE = { rejects: 6, throws: 2, 'hangs until it is aborted': 1, brings: 1 } as const;

export function payload({ census, tally }: World): Payload {
  return census.add('values', { id: tally.loads, words: new Array<number>(64).fill(tally.loads) });
}

/** A load of whatever fate chance has for it. */
export function load(
  world: World,
  { signal, previous }: Pick<LoadContext<Payload>, 'signal' | 'previous'>,
): KeyedAnswer<Payload> | PromiseLike<KeyedAnswer<Payload>> {
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
    case 'brings':
      return bring(dice.between(1, 150));
    case 'brings at once':
      return payload(world);
    case 'keeps what there is':
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
    case 'has a then that throws':
      return {
        then: () => {
          throw fail();
        },
      };
    case 'brings nothing':
      return Promise.resolve(undefined as never);
    case 'says more':
      return bring(20).then((value) => {
        const nextExecuteTime = world.clock.now() + dice.between(100, 5000);
        return loaded(value, dice.chance(1 / 2) ? { nextExecuteTime } : { maxStaleness: 5000 });
      });
  }
}

/** The same of a key. Each tenth key is one that the source does not have. */
export function loadKey(
  world: World,
  key: number,
  context: Pick<KeyContext<number, Payload>, 'signal' | 'previous'>,
): KeyedAnswer<Payload> | PromiseLike<KeyedAnswer<Payload>> {
  if (key % 10 !== 0) {
    return world.dice.chance(1 / 3)
      ? world.after(20).then(() => loaded(payload(world), { tags: [TAGS[key % 4] as string] }))
      : load(world, context);
  }
  world.tally.loads += 1;
  return absent();
}
