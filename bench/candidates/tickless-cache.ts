import { RefreshingCache } from '../../dist/index.js';
import type { Candidate } from './candidate.ts';

/** One key of a cache. */
export const ticklessCache: Candidate = {
  name: 'tickless, by key',
  open(load, periodMs) {
    const cache = new RefreshingCache({
      name: 'bench',
      load: (_key: string) => load(),
      schedule: periodMs,
      logger: false,
    });
    return { read: () => cache.get('key'), readNow: () => cache.current('key') };
  },
};
