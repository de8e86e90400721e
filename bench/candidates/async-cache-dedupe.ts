import { createCache } from 'async-cache-dedupe';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const asyncCacheDedupe: Candidate = {
  name: 'async-cache-dedupe',
  leastPeriodMs: 1000, // whole seconds only
  open(load, periodMs) {
    const cache = createCache({ ttl: periodMs / 1000, stale: KEEP_MS / 1000, storage: { type: 'memory' } });
    const defined = cache.define('value', (_key: string) => load());
    return { read: () => defined.value('key') };
  },
};
