import { describe, expect, it } from 'vitest';
import { deepEqual } from '../../../src/data/deep-equal.ts';

const records = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({ code: `c${i}`, sizes: [i], at: undefined }));

describe('deep equality', () => {
  it('of Sets of objects in another order, and of Maps with objects as keys, takes a time that grows with their size', () => {
    const [a, b] = [records(40_000), records(40_000).reverse()];
    expect(deepEqual(new Set(a), new Set(b))).toBe(true);
    const valued = (keys: readonly object[]): Map<object, unknown> =>
      new Map(keys.map((key) => [key, { of: (key as { code: string }).code }]));
    expect(deepEqual(valued(a), valued(b))).toBe(true);
    expect(
      deepEqual(new Set(a), new Set([...b.slice(1), { code: 'other', sizes: [0], at: undefined }])),
    ).toBe(false);
  });

  it.each<[a: unknown, b: unknown, areEqual: boolean]>([
    [new Set([{ a: 1, b: 2 }]), new Set([{ b: 2, a: 1 }]), true],
    [
      new Set([
        [1, { a: 1 }],
        [1, { a: 2 }],
      ]),
      new Set([
        [1, { a: 2 }],
        [1, { a: 1 }],
      ]),
      true,
    ],
    [
      new Set([
        [1, { a: 1 }],
        [1, { a: 1 }],
      ]),
      new Set([
        [1, { a: 1 }],
        [1, { a: 2 }],
      ]),
      false,
    ],
    [new Set([{ a: 0 }]), new Set([{ a: -0 }]), true],
    [new Set([{ a: Number.NaN }, 1]), new Set([1, { a: Number.NaN }]), true],
    [new Set([{ a: 1 }]), new Set([{ a: '1' }]), false],
    [new Set([{ a: '1,b=number:2' }]), new Set([{ a: '1', b: 2 }]), false],
    [
      new Set<unknown>([new Date(1), new Map([['a', 1]])]),
      new Set<unknown>([new Map([['a', 1]]), new Date(1)]),
      true,
    ],
    [new Set([new Date(1)]), new Set([new Date(2)]), false],
    [new Map([[{ a: 1 }, 'x'], [{ a: 2 }, 'y']]), new Map([[{ a: 2 }, 'y'], [{ a: 1 }, 'x']]), true], // biome-ignore format: one line each
    [new Map([[{ a: 1 }, 'x'], [{ a: 1 }, 'y']]), new Map([[{ a: 1 }, 'y'], [{ a: 1 }, 'x']]), true], // biome-ignore format: one line each
    [new Map([[{ a: 1 }, 'x']]), new Map([[{ a: 1 }, 'y']]), false],
  ])('of %j and %j: %s', (a, b, areEqual) => {
    expect(deepEqual(a, b)).toBe(areEqual);
    expect(deepEqual(b, a)).toBe(areEqual);
  });

  it('gives up on members that only a search could tell apart, and calls them different', () => {
    const deep = (end: number): object => ({ in: { in: { in: [end] } } });
    const alike = (from: number): Set<object> =>
      new Set(Array.from({ length: 20_000 }, (_, i) => deep((from + i) % 20_000)));
    let reads = 0;
    const counted = new Proxy(deep(-1), {
      ownKeys(target) {
        reads += 1;
        return Reflect.ownKeys(target);
      },
    });
    expect(deepEqual(alike(0).add(counted), alike(10_000).add(deep(-1)))).toBe(false);
    expect(reads).toBeLessThan(100_000);
  });

  it('of a part that occurs 2 to the 60 times', () => {
    const doubled = (end: unknown): unknown => {
      let part = end;
      for (let i = 0; i < 60; i++) part = [part, part];
      return part;
    };
    expect(deepEqual(doubled({ a: 1 }), doubled({ a: 1 }))).toBe(true);
    expect(deepEqual(doubled({ a: 1 }), doubled({ a: 2 }))).toBe(false);
  });
});
