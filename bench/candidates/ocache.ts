import { createMemoryStorage, defineCachedFunction } from 'ocache';
import type { Candidate } from './candidate.ts';

export const ocache: Candidate = {
  name: 'ocache',
  open(load, periodMs) {
    const storage = createMemoryStorage();
    const read = defineCachedFunction(load, {
      name: 'value',
      getKey: () => 'key',
      storage,
      maxAge: periodMs / 1000,
      swr: true,
      onError: () => {}, // it would log each failed load
    });
    return { read };
  },
};
