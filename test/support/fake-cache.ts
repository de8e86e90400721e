import { type CacheOptions, RefreshingCache } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { unspread } from './unspread.ts';

export type FakeCacheOptions = Partial<CacheOptions<string, string>>;

/** A cache on a fake clock. */
export interface FakeCache {
  readonly clock: FakeClock;
  readonly cache: RefreshingCache<string, string>;
}

/** A cache of a period of 1 s, without jitter. */
export function fakeCache(options: FakeCacheOptions): FakeCache {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const shared = { name: 'c', schedule: 1000, retry: false, random: unspread, logger: false } as const;
  return { clock, cache: new RefreshingCache<string, string>({ ...shared, ...options, clock }) };
}
