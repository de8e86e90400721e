import { describe, expect, it } from 'vitest';
import { RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { unspread } from '../../support/unspread.ts';

/** One read with patience, and by how much each counter has grown. */
async function countsOf(kind: 'value' | 'key', during: 'nothing' | 'drop', maxStaleness = Infinity) {
  const clock = new FakeClock();
  const shared = {
    name: 'v',
    clock,
    schedule: 100,
    retry: false,
    logger: false,
    maxStaleness,
    load: () => new Promise<number>((resolve) => clock.setTimeout(() => resolve(1), 20)),
  } as const;
  const value = new RefreshingValue(shared);
  const cache = new RefreshingCache<string, number>({ ...shared, random: unspread });
  const member = kind === 'value' ? value : cache;
  const get = (patience?: number): Promise<number> =>
    kind === 'value' ? value.get({ patience }) : cache.get('k', { patience });
  const first = get();
  await clock.advance(20);
  await first;
  await clock.advance(1000);
  const counts = () => {
    const { reads, waited, misses, tooStale, servedStale } = member.stats();
    return [reads, waited, misses, tooStale, servedStale];
  };
  const before = counts();
  const read = get(500);
  await clock.advance(1);
  if (during === 'drop') {
    if (kind === 'value') value.invalidate({ drop: true });
    else cache.delete('k');
  }
  await clock.advance(100);
  await read;
  return counts().map((count, i) => count - (before[i] as number));
}

describe.each(['value', 'key'] as const)('a read of a %s with patience is counted once', (kind) => {
  it.each([
    ['that gets the new value', 'nothing', Infinity, [1, 1, 0, 0, 0]],
    ['whose value is dropped meanwhile', 'drop', Infinity, [1, 1, 0, 0, 0]],
    ['that finds a value beyond its limit', 'nothing', 500, [1, 1, 0, 1, 0]],
  ] as const)('%s', async (_, during, maxStaleness, grown) => {
    expect(await countsOf(kind, during, maxStaleness)).toEqual(grown);
  });
});
