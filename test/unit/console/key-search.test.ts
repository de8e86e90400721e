import { describe, expect, it, vi } from 'vitest';
import { KeySearch } from '../../../src/console/key-search.ts';

/** A cache as large as one can be: `name 0` was used first. */
function large(size: number) {
  const all = Array.from({ length: size }, (_, at) => `name ${at}`);
  return { size, keys: vi.fn(() => all.values()) };
}

describe('a search for keys of a large cache', () => {
  it('looks at those that were used last, and lets others have their turn meanwhile', async () => {
    const cache = large(250_000);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const { keys, matching, looked } = await new KeySearch().search(cache, 'NAME 24999');
    clearInterval(timer);
    expect([keys[0], matching, looked, turns > 10]).toEqual(['name 249999', 10, 100_000, true]);
    expect((await new KeySearch().search(cache, '')).keys).toHaveLength(100);
  });

  it('copies its keys once for all that wait, and then not at once again', async () => {
    const cache = large(100);
    cache.keys.mockImplementation(() => {
      const until = performance.now() + 20;
      while (performance.now() < until); // a million of them
      return ['a', 1].values() as never;
    });
    const search = new KeySearch();
    const begun = performance.now();
    for (let rounds = 0; rounds < 2; rounds++) {
      await Promise.all(Array.from({ length: 20 }, () => search.search(cache, '')));
    }
    expect(cache.keys).toHaveBeenCalledTimes(2);
    expect(performance.now() - begun).toBeGreaterThan(200);
  });

  it('finds by an id no key of a type that the cache does not have', async () => {
    const numbers = { size: 2, keys: () => [7, 8].values() };
    const search = new KeySearch();
    expect(await search.find(numbers, '9')).toEqual([9]);
    for (const id of ['"7"', 'true', 'seven', '{"id":7}', undefined]) {
      expect(await search.find(numbers, id)).toEqual([]);
    }
    expect(await search.find({ size: 0, keys: () => [].values() }, '"a"')).toEqual([]);
  });
});
