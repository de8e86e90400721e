import { Loader } from 'layered-loader/core';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const layeredLoader: Candidate = {
  name: 'layered-loader',
  open(load, periodMs) {
    const loader = new Loader<number>({
      inMemoryCache: { ttlInMsecs: KEEP_MS, ttlLeftBeforeRefreshInMsecs: KEEP_MS - periodMs },
      dataSourceGetOneFn: () => load(),
      logger: { error: () => {} },
    });
    return { read: () => loader.get('key'), readNow: () => loader.getInMemoryOnly('key') };
  },
};
