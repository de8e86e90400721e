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

/** In which order the keys are read, beside that in which they were loaded. */
type Order = 'as loaded' | 'random';

/** Fresh reads over so many keys; `get` of lru-cache with a ttl first. */
export interface KeyedReads {
  readonly keys: number;
  readonly order: Order;
  /** Read in a loop: many reads in one turn of the event loop. */
  readonly sync: readonly KeyedFigure[];
  /** Each read awaited: a turn for each. */
  readonly awaited: readonly KeyedFigure[];
}

const ROUNDS = 100;
/** A slice over many keys is long enough to come round most of them. */
const MANY_KEYS = { from: 10_000, sliceMs: 8 };

/** One number of keys after the other; the contestants over the same keys take turns. */
export async function measureKeyedReads(
  cases: readonly Pick<KeyedReads, 'keys' | 'order'>[],
): Promise<KeyedReads[]> {
  const all: KeyedReads[] = [];
  for (const { keys, order } of cases) all.push(await measure(keys, order));
  return all;
}

async function measure(count: number, order: Order): Promise<KeyedReads> {
  const loaded = shuffled(Array.from({ length: count }, (_, i) => `key:${i}`));
  const keys = order === 'random' ? shuffled(loaded) : loaded;
  const caches = {
    map: () => new Map(loaded.map((key) => [key, VALUE])),
    lru: () => filled(new LRUCache<string, number>({ max: count }), loaded),
    lruTtl: () =>
      filled(new LRUCache<string, number>({ max: count, ttl: KEEP_MS, fetchMethod: () => VALUE }), loaded),
    tickless: () => {
      const load = (_key: string): number => VALUE;
      const cache = new RefreshingCache({ name: 'bench', max: count, load, schedule: KEEP_MS });
      for (const key of loaded) cache.current(key);
      return cache;
    },
  };
  // Each has a cache of its own: none finds in the processor's caches what another has just read.
  const [lruGet, lruAwaited, lruFetch] = [caches.lruTtl(), caches.lruTtl(), caches.lruTtl()];
  const [current, get, awaitedGet] = [caches.tickless(), caches.tickless(), caches.tickless()];
  const [map, lru] = [caches.map(), caches.lru()];
  const sync = contestants((read) => keyedLoop(keys, read), {
    'lru-cache get, ttl': (key) => lruGet.get(key),
    'floor: the key alone': (key) => (key === '' ? 0 : VALUE),
    'Map get': (key) => map.get(key),
    'lru-cache get, no ttl': (key) => lru.get(key),
    'tickless current(key)': (key) => current.current(key),
    'tickless get(key), not awaited': (key) => (get.get(key) === undefined ? 0 : VALUE),
  });
  const awaited = contestants((read) => awaitedKeyedLoop(keys, read), {
    'lru-cache get, ttl': (key) => lruAwaited.get(key),
    'floor: the key alone': (key) => (key === '' ? 0 : VALUE),
    'lru-cache fetch, ttl': (key) => lruFetch.fetch(key),
    'tickless get(key)': (key) => awaitedGet.get(key),
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

function contestants(loop: (read: Read) => Loop, reads: Readonly<Record<string, Read>>): Contestant[] {
  return Object.entries(reads).map(([name, read]) => contestant(name, loop(read)));
}

function figures(all: readonly Contestant[]): KeyedFigure[] {
  const [lruCache] = all as [Contestant, ...Contestant[]];
  return all.map((each) => ({
    name: each.name,
    ns: medianNs(each),
    toLruCache: ratioOf(each, lruCache),
  }));
}
