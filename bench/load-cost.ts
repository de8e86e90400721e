import { createCache } from 'async-cache-dedupe';
import { Loader } from 'layered-loader/core';
import { LRUCache } from 'lru-cache';
import { RefreshingCache } from '../dist/index.js';
import { KEEP_MS } from './candidates/candidate.ts';
import { median, shuffled, VALUE } from './turns.ts';

/** What loads of keys cost beside the load itself, which is an async function that returns at once. */
export interface LoadCost {
  readonly name: string;
  /** First reads, each awaited before the next. */
  readonly oneByOne: LoadFigure;
  /** First reads, all at once. */
  readonly atOnce: LoadFigure;
  /** Forced reloads, each awaited before the next; `undefined`: the library has none. */
  readonly forced: LoadFigure | undefined;
}

export interface LoadFigure {
  /** Median nanoseconds per load. */
  readonly ns: number;
  /** Median of the ratios of each round to `fetch` of lru-cache. */
  readonly toLruCache: number;
}

type Way = 'oneByOne' | 'atOnce' | 'forced';

/** A new, empty cache with room for all keys. */
interface Keyed {
  readonly get: (key: string) => Promise<unknown>;
  readonly refresh?: (key: string) => Promise<unknown>;
}

const KEYS = Array.from({ length: 1000 }, (_, i) => `key:${i}`);
const ROUNDS = 60;
const WARM_UP_ROUNDS = 40;

const load = async (_key: string): Promise<number> => VALUE;

const open: Readonly<Record<string, () => Keyed>> = {
  'lru-cache': () => {
    const cache = new LRUCache<string, number>({ max: KEYS.length, ttl: KEEP_MS, fetchMethod: load });
    return {
      get: (key) => cache.fetch(key),
      refresh: (key) => cache.fetch(key, { forceRefresh: true }),
    };
  },
  tickless: () => {
    const cache = new RefreshingCache({ name: 'bench', max: KEYS.length, load, schedule: KEEP_MS });
    return { get: (key) => cache.get(key), refresh: (key) => cache.refresh(key) };
  },
  'async-cache-dedupe': () => {
    const storage = { type: 'memory', options: { size: KEYS.length } } as const;
    const cache = createCache({ ttl: KEEP_MS / 1000, storage }).define('value', load);
    return { get: (key) => cache.value(key) };
  },
  'layered-loader': () => {
    const loader = new Loader<number>({
      inMemoryCache: { ttlInMsecs: KEEP_MS, maxItems: KEYS.length },
      dataSourceGetOneFn: load,
    });
    return { get: (key) => loader.get(key), refresh: (key) => loader.forceRefresh(key) };
  },
};

/** Each round gives every candidate all keys in each way, in random order. @param only those names. @default all */
export async function measureLoadCosts(only: readonly string[] = Object.keys(open)): Promise<LoadCost[]> {
  const all = only.map((name) => {
    const rounds: Record<Way, number[]> = { oneByOne: [], atOnce: [], forced: [] };
    return { name, rounds };
  });
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { name, rounds } of shuffled(all)) {
      const ns = await measure(open[name] as () => Keyed);
      if (round < 0) continue;
      for (const way of ['oneByOne', 'atOnce', 'forced'] as const) rounds[way].push(ns[way]);
    }
  }
  const lruCache = all.find(({ name }) => name === 'lru-cache')?.rounds;
  return all.map(({ name, rounds }) => {
    const figure = (way: Way): LoadFigure => ({
      ns: median(rounds[way]),
      toLruCache: median(rounds[way].map((ns, i) => ns / (lruCache?.[way][i] ?? Number.NaN))),
    });
    const [oneByOne, atOnce, forced] = [figure('oneByOne'), figure('atOnce'), figure('forced')];
    return { name, oneByOne, atOnce, forced: Number.isNaN(forced.ns) ? undefined : forced };
  });
}

/** Nanoseconds per load. */
async function measure(opened: () => Keyed): Promise<Record<Way, number>> {
  const { get, refresh } = opened();
  const oneByOne = await timed(() => inTurn(get));
  const forced = refresh === undefined ? Number.NaN : await timed(() => inTurn(refresh));
  const other = opened();
  const atOnce = await timed(() => Promise.all(KEYS.map(other.get)));
  return { oneByOne, forced, atOnce };
}

async function inTurn(read: (key: string) => Promise<unknown>): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const key of KEYS) values.push(await read(key));
  return values;
}

async function timed(readAll: () => Promise<unknown[]>): Promise<number> {
  const start = performance.now();
  const values = await readAll();
  const ms = performance.now() - start;
  if (values.some((value) => value !== VALUE)) throw new Error('a read returned a wrong value');
  return (ms * 1e6) / KEYS.length;
}
