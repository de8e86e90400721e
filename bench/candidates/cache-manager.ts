import { createCache } from 'cache-manager';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const cacheManager: Candidate = {
  name: 'cache-manager',
  open(load, periodMs) {
    const cache = createCache({ ttl: KEEP_MS, refreshThreshold: KEEP_MS - periodMs });
    return { read: () => cache.wrap('key', load) };
  },
};
