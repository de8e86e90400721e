import { describe, expect, it } from 'vitest';
import { defaultCodec } from '../../../src/store/default-codec.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a large value that is nested deeply', () => {
  const nested = (depth: number, first: unknown): unknown =>
    numbers(depth).reduce<unknown>((next) => ({ next, list: numbers(60_000 / depth) }), first);

  it.each([300, 2600])('is encoded as a whole: %d levels of JSON', async (depth) => {
    const value = nested(depth, null);
    expect(await defaultCodec.encode(value)).toBe(JSON.stringify(value));
  });

  it.each([100, 300])('is split up to a limit, whether or not it is JSON: %d levels', async (depth) => {
    for (const first of [null, new Date(0)]) {
      const text = (await defaultCodec.encode(nested(depth, first))) as string;
      expect(text.startsWith('parts:')).toBe(depth === 100);
    }
  });
});
