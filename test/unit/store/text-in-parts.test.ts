import { describe, expect, it } from 'vitest';
import { defaultCodec } from '../../../src/records/store/default-codec.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a large value that JSON would change', () => {
  const bare = <T extends object>(properties: T): T => Object.assign(Object.create(null), properties);
  const many = <T>(value: T): Record<string, T> =>
    bare(Object.fromEntries(numbers(40_000).map((i) => [i, value])));
  const isBare = (value: unknown): boolean => Object.getPrototypeOf(value) === null;

  it('keeps objects without a prototype, as smaller ones do', async () => {
    const shared = bare({ at: new Date(0), inner: bare({ a: 1 }) });
    const value = {
      split: many(undefined),
      lines: numbers(40_000).map((a) => bare({ a })),
      twice: many(shared),
    };
    const text = (await defaultCodec.encode(value)) as string;
    expect(text.startsWith('parts:')).toBe(true);
    const { split, lines, twice } = (await defaultCodec.decode(text)) as typeof value;
    const [first, last] = [twice['0'], twice['39999']];
    expect([split, lines[0], lines[39_999], twice, first, first?.inner].map(isBare)).toEqual(
      Array(6).fill(true),
    );
    expect(first).toBe(last);
    expect(Object.keys(split)).toHaveLength(40_000);
    expect(isBare((await defaultCodec.decode(await defaultCodec.encode(many(1)))) as object)).toBe(true);
  });

  it.each([
    ['symbol', { [Symbol('key')]: 1 }],
    ['__proto__', JSON.parse('{"__proto__":1}')],
  ])('is refused with a %s as a key, as smaller ones are', async (_, odd) => {
    const refused = expect.objectContaining({
      message: expect.stringContaining("the default codec can't keep"),
    });
    expect(() => defaultCodec.encode([new Date(0), odd])).toThrow(refused);
    for (const list of [numbers(40_000), numbers(10_000).map(() => odd)]) {
      await expect(defaultCodec.encode([new Date(0), list, odd])).rejects.toEqual(refused);
    }
    await expect(defaultCodec.encode({ ...many(undefined), ...odd })).rejects.toEqual(refused);
  });
});

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
