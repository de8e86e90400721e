import { LRUCache } from 'lru-cache';
import type { Candidate } from './candidate.ts';

export const lruCache: Candidate = {
  name: 'lru-cache',
  open(load, periodMs) {
    const cache = new LRUCache<string, number>({
      max: 100,
      ttl: periodMs,
      fetchMethod: load,
      allowStale: true,
      allowStaleOnFetchRejection: true,
      noDeleteOnFetchRejection: true,
      noDeleteOnStaleGet: true,
    });
    return { read: () => cache.fetch('key'), readNow: () => cache.get('key') };
  },
};
