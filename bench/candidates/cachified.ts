import { type CacheEntry, cachified } from '@epic-web/cachified';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const cachifiedOnMap: Candidate = {
  name: 'cachified',
  open(load, periodMs) {
    const cache = new Map<string, CacheEntry>();
    // With an swr of Infinity it would drop a value whose load took longer than the ttl.
    return {
      read: () => cachified({ key: 'key', cache, getFreshValue: () => load(), ttl: periodMs, swr: KEEP_MS }),
    };
  },
};
