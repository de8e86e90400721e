import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { RefreshingCache } from '../../../src/index.ts';

/** What lru-cache publishes of a call. */
interface Traced {
  readonly op: string;
  readonly key: string;
  readonly get?: string;
}

const CHANNEL = 'lru-cache:metrics';

describe('a cache whose lru-cache is traced', () => {
  it('gives each read a status of its own', async () => {
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
