import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { describe, expect, it, vi } from 'vitest';
import { createLru } from '../../../src/cache/lru.ts';
import { RefreshingCache } from '../../../src/index.ts';

/** What lru-cache publishes of a call. */
interface Traced {
  readonly op: string;
  readonly key: string;
  readonly get?: string;
}

const CHANNEL = 'lru-cache:metrics';

describe('the lru-cache of a cache', () => {
  it('gives each read a status of its own where it is traced', async () => {
    const cache = new RefreshingCache({ name: 'traced', load: (key: string) => key.toUpperCase() });
    for (const key of ['a', 'b']) cache.current(key);
    const seen: Traced[] = [];
    const listener = (status: unknown): void => void seen.push(status as Traced);
    subscribe(CHANNEL, listener);
    try {
      expect(['a', 'b', 'a'].map((key) => cache.current(key))).toEqual(['A', 'B', 'A']);
      expect(await cache.get('c')).toBe('C');
    } finally {
      unsubscribe(CHANNEL, listener);
    }
    const reads = seen.filter(({ op }) => op === 'get').map(({ key, get }) => ({ key, get }));
    expect(reads).toEqual([
      { key: 'a', get: 'hit' },
      { key: 'b', get: 'hit' },
      { key: 'a', get: 'hit' },
      { key: 'c', get: 'miss' },
    ]);
    const traced = seen.length;
    expect(cache.current('b')).toBe('B');
    expect(seen).toHaveLength(traced);
  });

  it('is given one object of options for all reads: V8 need not inline them for a read that allocates nothing', () => {
    const cache = new RefreshingCache({ name: 'plain', load: (key: string) => key });
    const get = vi.spyOn(LRUCache.prototype, 'get');
    try {
      for (const key of ['a', 'a', 'b', 'b']) cache.current(key);
      const options = new Set(get.mock.calls.map(([, given]) => given));
      expect({ reads: get.mock.calls.length, objects: options.size }).toEqual({ reads: 4, objects: 1 });
      expect([...options]).toEqual([{ status: undefined }]);
    } finally {
      get.mockRestore();
    }
  });

  it('has options without a prototype: what a bug elsewhere adds to that of all objects changes no read', () => {
    const cache = new RefreshingCache({ name: 'polluted', max: 2, load: (key: string) => key });
    const polluted = { ttl: 1, size: 5, noDisposeOnSet: true };
    Object.assign(Object.prototype, polluted);
    try {
      for (const key of ['a', 'b', 'a', 'c']) expect(cache.current(key)).toBe(key);
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name);
    }
    expect([...cache.keys()]).toEqual(['a', 'c']);
  });

  it.each([
    [1, 0, 2],
    [10_000, 0, 2],
    [10_001, 10_001, 10_001],
  ])(
    'of at most %i items has allocated the order of %i before the first one, and of %i after two',
    (max, before, after) => {
      const lru = createLru<number>({ max }) as unknown as LRUCache<string, number>;
      expect(LRUCache.unsafeExposeInternals(lru).keyList).toHaveLength(before);
      for (const id of ['a', 'b', 'a']) lru.set(id, 1);
      expect(LRUCache.unsafeExposeInternals(lru).keyList).toHaveLength(after);
    },
  );

  it('keeps and evicts the same items in the same order, allocated at once or with its items', () => {
    const step = fc.tuple(
      fc.constantFrom('set', 'set', 'get', 'delete'),
      fc.integer({ min: 0, max: 9 }),
      fc.nat(),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (max, steps) => {
        const gone: string[][] = [[], []];
        const log =
          (at: number) =>
          (...args: unknown[]): void =>
            void gone[at]?.push(args.join());
        const grown = createLru<number>({ max }, log(0));
        const whole = new LRUCache<number, number>({ max, dispose: log(1) });
        for (const [does, id, value] of steps) {
          if (does === 'set') for (const one of [grown, whole]) one.set(id, value);
          else if (does === 'get') expect(grown.get(id, {})).toBe(whole.get(id));
          else expect(grown.delete(id)).toBe(whole.delete(id));
          expect([...grown.entries()]).toEqual([...whole.entries()]);
        }
        expect(gone[0]).toEqual(gone[1]);
      }),
      { numRuns: 2000 },
    );
  });
});
