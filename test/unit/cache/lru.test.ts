import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { LRUCache } from 'lru-cache';
import { describe, expect, it, vi } from 'vitest';
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
});
