// The contents of an idle process: created, loaded, and not used after that.

import { LRUCache } from 'lru-cache';
import { RefreshingCache, RefreshingValue } from '../../dist/index.js';

const KEEP_MS = 3_600_000;

/** Each creates and loads that many, and returns the object that references them. */
export const candidates = {
  'plain objects': (count) => Array.from({ length: count }, (_, i) => ({ value: i })),
  'tickless, values': async (count) => {
    const values = Array.from({ length: count }, (_, i) => {
      const load = async () => i;
      return new RefreshingValue({ name: `value ${i}`, load, schedule: KEEP_MS });
    });
    await Promise.all(values.map((value) => value.get()));
    return values;
  },
  'tickless, keys of a cache': async (count) => {
    const load = async (key) => key;
    const cache = new RefreshingCache({ name: 'bench', max: count, load, schedule: KEEP_MS });
    await Promise.all(Array.from({ length: count }, (_, i) => cache.get(i)));
    return cache;
  },
  'lru-cache, ttl': async (count) => {
    const cache = new LRUCache({ max: count, ttl: KEEP_MS, fetchMethod: async (key) => key });
    await Promise.all(Array.from({ length: count }, (_, i) => cache.fetch(i)));
    return cache;
  },
  'setInterval, 5 to 10 s': (count) => {
    const load = async (i) => i;
    return Array.from({ length: count }, (_, i) => {
      const held = { value: i };
      const refresh = async () => {
        held.value = await load(i);
      };
      setInterval(refresh, 5000 + Math.floor(Math.random() * 5000));
      return held;
    });
  },
};
