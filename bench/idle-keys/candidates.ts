import { LRUCache } from 'lru-cache';
import { RefreshingCache } from '../../dist/index.js';
import { KEEP_MS } from '../candidates/candidate.ts';

/** A value is an object that exists beforehand, so that it costs the cache one reference. */
export type Value = object;

/** Fills a cache with the values of `source`, and reads each of them once. */
type Fill = (source: ReadonlyMap<string, Value>) => object | Promise<object>;

const NAME = 'bench';

export type IdleKeysCandidate =
  | 'bare Map'
  | 'lru-cache, no ttl'
  | 'lru-cache, ttl'
  | 'tickless, load'
  | 'tickless, async load'
  | 'tickless, loadMany';

const fills: Readonly<Record<IdleKeysCandidate, Fill>> = {
  'bare Map': (source) => new Map(source),
  'lru-cache, no ttl': (source) => filled(new LRUCache({ max: source.size }), source),
  'lru-cache, ttl': (source) => filled(new LRUCache({ max: source.size, ttl: KEEP_MS }), source),
  'tickless, load': (source) => {
    const load = (key: string) => source.get(key) as Value;
    const cache = new RefreshingCache({ name: NAME, max: source.size, load, schedule: KEEP_MS });
    for (const key of source.keys()) cache.current(key);
    return cache;
  },
  'tickless, async load': (source) => {
    const load = async (key: string) => source.get(key) as Value;
    const cache = new RefreshingCache({ name: NAME, max: source.size, load, schedule: KEEP_MS });
    return readAll(cache, source);
  },
  'tickless, loadMany': (source) => {
    const loadMany = async (keys: readonly string[]) =>
      new Map(keys.map((key) => [key, source.get(key) as Value]));
    const options = { name: NAME, max: source.size, loadMany, batchSize: 500, schedule: KEEP_MS };
    return readAll(new RefreshingCache(options), source);
  },
};

export const idleKeysCandidates: readonly IdleKeysCandidate[] = Object.keys(fills) as IdleKeysCandidate[];

export function fillOf(name: string): Fill | undefined {
  return fills[name as IdleKeysCandidate];
}

function filled(cache: LRUCache<string, Value>, source: ReadonlyMap<string, Value>): LRUCache<string, Value> {
  for (const [key, value] of source) {
    cache.set(key, value);
    cache.get(key);
  }
  return cache;
}

/** In portions of at most a thousand concurrent loads. */
async function readAll(
  cache: RefreshingCache<string, Value>,
  source: ReadonlyMap<string, Value>,
): Promise<object> {
  const keys = [...source.keys()];
  for (let from = 0; from < keys.length; from += 1000) {
    await Promise.all(keys.slice(from, from + 1000).map((key) => cache.get(key)));
  }
  return cache;
}
