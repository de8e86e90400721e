import { LRUCache } from 'lru-cache';
import { RefreshingCache } from '../dist/index.js';
import { KEEP_MS } from './candidates/candidate.ts';
import { awaitedKeyedLoop, keyedLoop, type Loop } from './loop.ts';
import { type Contestant, contestant, medianNs, ratioOf, shuffled, takeTurns, VALUE } from './turns.ts';

/** The speed of one keyed read. */
export interface KeyedFigure {
  readonly name: string;
  /** Median nanoseconds per read. */
  readonly ns: number;
  /** Median of the ratios of each round to `get` of lru-cache with a ttl, in the same kind of loop. */
  readonly toLruCache: number;
}

/** The order of reads, relative to the order of loads. */
type Order = 'as loaded' | 'random';

/** Fresh reads over a number of keys; `get` of lru-cache with a ttl first. */
export interface KeyedReads {
  readonly keys: number;
  readonly order: Order;
  /** Read in a loop: many reads in one turn of the event loop. */
  readonly sync: readonly KeyedFigure[];
  /** Each read awaited: a turn for each. */
  readonly awaited: readonly KeyedFigure[];
}

/** The reference of the comparison. */
const LRU_CACHE = 'lru-cache get, ttl';
const ROUNDS = 100;
/** A slice over many keys is long enough to read most of them. */
const MANY_KEYS = { from: 10_000, sliceMs: 8 };

/**
 * One number of keys after the other; the contestants over the same keys take turns.
 *
 * @param only those with these names, beside lru-cache with a ttl. @default all
 */
export async function measureKeyedReads(
  cases: readonly Pick<KeyedReads, 'keys' | 'order'>[],
  only?: readonly string[],
): Promise<KeyedReads[]> {
  const all: KeyedReads[] = [];
  for (const { keys, order } of cases) all.push(await measure(keys, order, only));
  return all;
}

async function measure(
  count: number,
  order: Order,
  only: readonly string[] | undefined,
): Promise<KeyedReads> {
  const loaded = shuffled(Array.from({ length: count }, (_, i) => `key:${i}`));
  const keys = order === 'random' ? shuffled(loaded) : loaded;
  const lruTtl = (): LRUCache<string, number> =>
    filled(new LRUCache<string, number>({ max: count, ttl: KEEP_MS, fetchMethod: () => VALUE }), loaded);
  const tickless = (): RefreshingCache<string, number> => {
    const load = (_key: string): number => VALUE;
    const cache = new RefreshingCache({ name: 'bench', max: count, load, schedule: KEEP_MS });
    for (const key of loaded) cache.current(key);
    return cache;
  };
  const isWanted = (name: string): boolean => name === LRU_CACHE || (only?.includes(name) ?? true);
  // Each has a cache of its own, so that none profits from the processor cache of another one.
  const sync = contestants(isWanted, (read) => keyedLoop(keys, read), {
    [LRU_CACHE]: () => {
      const cache = lruTtl();
      return (key) => cache.get(key);
    },
    'floor: the key alone': () => (key) => (key === '' ? 0 : VALUE),
    'Map get': () => {
      const map = new Map(loaded.map((key) => [key, VALUE]));
      return (key) => map.get(key);
    },
    'lru-cache get, no ttl': () => {
      const cache = filled(new LRUCache<string, number>({ max: count }), loaded);
      return (key) => cache.get(key);
    },
    'tickless current(key)': () => {
      const cache = tickless();
      return (key) => cache.current(key);
    },
    'tickless get(key), not awaited': () => {
      const cache = tickless();
      return (key) => (cache.get(key) === undefined ? 0 : VALUE);
    },
  });
  const awaited = contestants(isWanted, (read) => awaitedKeyedLoop(keys, read), {
    [LRU_CACHE]: () => {
      const cache = lruTtl();
      return (key) => cache.get(key);
    },
    'floor: the key alone': () => (key) => (key === '' ? 0 : VALUE),
    'lru-cache fetch, ttl': () => {
      const cache = lruTtl();
      return (key) => cache.fetch(key);
    },
    'tickless get(key)': () => {
      const cache = tickless();
      return (key) => cache.get(key);
    },
  });
  const slices = count < MANY_KEYS.from ? {} : { sliceMs: MANY_KEYS.sliceMs };
  await takeTurns([...sync, ...awaited], { rounds: ROUNDS, ...slices });
  return { keys: count, order, sync: figures(sync), awaited: figures(awaited) };
}

function filled(cache: LRUCache<string, number>, keys: readonly string[]): LRUCache<string, number> {
  for (const key of keys) cache.set(key, VALUE);
  return cache;
}

type Read = (key: string) => unknown;

/** @param reads open what they read. */
function contestants(
  isWanted: (name: string) => boolean,
  loop: (read: Read) => Loop,
  reads: Readonly<Record<string, () => Read>>,
): Contestant[] {
  return Object.entries(reads)
    .filter(([name]) => isWanted(name))
    .map(([name, open]) => contestant(name, loop(open())));
}

function figures(all: readonly Contestant[]): KeyedFigure[] {
  const [lruCache] = all as [Contestant, ...Contestant[]];
  return all.map((each) => ({
    name: each.name,
    ns: medianNs(each),
    toLruCache: ratioOf(each, lruCache),
  }));
}
