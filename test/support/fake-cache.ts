import { type CacheOptions, RefreshingCache } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { unspread } from './unspread.ts';

export type FakeCacheOptions<K = string, V = string> = Partial<CacheOptions<K, V>>;

/** A cache on a fake clock. */
export interface FakeCache<K = string, V = string> {
  readonly clock: FakeClock;
  readonly cache: RefreshingCache<K, V>;
}

/** A cache of a period of 1 s, without jitter. */
export function fakeCache<K = string, V = string>(options: FakeCacheOptions<K, V>): FakeCache<K, V> {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const shared = { name: 'c', schedule: 1000, retry: false, random: unspread, logger: false } as const;
  const all = { ...shared, ...options, clock };
  return { clock, cache: new RefreshingCache<K, V>(all as never) };
}
