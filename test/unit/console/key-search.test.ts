import { describe, expect, it } from 'vitest';
import { KeySearch } from '../../../src/console/key-search.ts';
import { TurnsOfOperators } from '../../../src/console/turns-of-operators.ts';
import { RefreshingCache } from '../../../src/index.ts';

/** A cache as large as one can be: `name 0` was used first. Counts the keys that are walked over in one turn. */
function large(size: number) {
  const walked = { inTurn: 0, most: 0 };
  function* keys(): Generator<string> {
    for (let at = size - 1; at >= 0; at--) {
      if (walked.inTurn === 0) setTimeout(() => (walked.inTurn = 0));
      walked.inTurn += 1;
      walked.most = Math.max(walked.most, walked.inTurn);
      yield `name ${at}`;
    }
  }
  return { size, keys, walked };
}

describe('a search for keys', () => {
  it('looks at those that were used last, a few at a time, and lets others have their turn meanwhile', async () => {
    const cache = large(250_000);
    const { keys, matching, looked } = await new KeySearch(new TurnsOfOperators()).search(
      cache,
      'NAME 24999',
      'ann',
    );
    expect([keys[0], matching, looked]).toEqual(['name 249999', 10, 100_000]);
    const all = await new KeySearch(new TurnsOfOperators()).search(cache, '', 'ann');
    expect([all.keys.length, all.keys[0], all.matching]).toEqual([100, 'name 249999', 250_000]);
    expect(await new KeySearch(new TurnsOfOperators()).find(cache, '"name 170000"', 'ann')).toEqual([
      'name 170000',
    ]);
    expect(cache.walked.most).toBeLessThanOrEqual(2000);
  });

  for (const change of ['delete', 'get'] as const) {
    it(`counts each key once where the service calls ${change} of the key that it has come to`, async () => {
      const cache = new RefreshingCache<string, number>({ name: 'c', max: 6000, load: () => 1 });
      for (let at = 0; at < 6000; at++) cache.set(`name ${at}`, at);
      const disturbed = {
        size: 6000,
        *keys(options: { readonly recentFirst: true }) {
          for (const key of cache.keys(options)) {
            yield key;
            if (key === 'name 4000') void cache[change](key);
          }
        },
      };
      const { matching, looked } = await new KeySearch(new TurnsOfOperators()).search(
        disturbed,
        'name',
        'ann',
      );
      expect([matching, looked]).toEqual([6000, 6000]);
    });
  }

  it('ends, however busy the cache is', async () => {
    const busy = {
      size: 10_000,
      *keys() {
        for (;;) yield 'hot';
      },
    };
    expect((await new KeySearch(new TurnsOfOperators()).search(busy, 'hot', 'ann')).matching).toBe(1);
  });

  it('finds by an id no key of a type that the cache does not have', async () => {
    const numbers = { size: 2, keys: () => [7, 8].values() };
    const search = new KeySearch(new TurnsOfOperators());
    expect(await search.find(numbers, '9', 'ann')).toEqual([9]);
    for (const id of ['"7"', 'true', 'seven', '{"id":7}', undefined]) {
      expect(await search.find(numbers, id, 'ann')).toEqual([]);
    }
    expect(await search.find({ size: 0, keys: () => [].values() }, '"a"', 'ann')).toEqual([]);
  });
});
