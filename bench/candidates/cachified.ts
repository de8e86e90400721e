import { type CacheEntry, cachified } from '@epic-web/cachified';
import type { Candidate } from './candidate.ts';

export const cachifiedOnMap: Candidate = {
  name: 'cachified',
  open(load, periodMs) {
    const cache = new Map<string, CacheEntry>();
    return {
      read: () =>
        cachified({
          key: 'key',
          cache,
          getFreshValue: () => load(),
          ttl: periodMs,
          swr: Number.POSITIVE_INFINITY,
        }),
    };
  },
};
