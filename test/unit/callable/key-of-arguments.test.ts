import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyOfArguments } from '../../../src/callable/key-of-arguments.ts';

const keyOf = (...args: unknown[]): unknown => keyOfArguments('f', args);

it('is the argument itself where there is one that can be a key, else the text of the call', () => {
  expect(['1012', 5, 5n, true].map((one) => keyOf(one))).toEqual(['1012', 5, 5n, true]);
  expect(keyOf()).toBe('()');
  expect(keyOf(undefined)).toBe('()');
  expect(keyOf('a', undefined, 1n, undefined)).toBe('("a",undefined,1n)');
  expect(keyOf({ b: [1, null], a: new Date(5) })).toBe('({"a":Date(5),"b":[1,null]})');
  expect(keyOf({ b: 1, a: 2 })).toBe(keyOf({ a: 2, b: 1 }));
});

it('is another one for arguments that are alike', () => {
  const calls: unknown[][] = [
    ['a', 'b'],
    ['a,b'],
    ['("a","b")'],
    ['(a)'],
    [['a', 'b']],
    [['a'], 'b'],
    [1],
    ['1'],
    [1n],
    [[1]],
    [null],
    ['null'],
    [[]],
    [{}],
    [new Date(1)],
    [{ a: undefined }],
    [new Date(Number.NaN)],
  ];
  expect(new Set(calls.map((args) => keyOf(...args))).size).toBe(calls.length);
});

it('refuses arguments without a text, also inside others', () => {
  for (const one of [
    Symbol('s'),
    () => 1,
    new Map(),
    new URL('http://x'),
    [new Set()],
    { a: { b: Symbol('s') } },
  ]) {
    expect(() => keyOf('a', one)).toThrow('f["a",');
  }
});

it('is the same only for equal arguments', () => {
  const args = fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.jsonValue()));
  fc.assert(
    fc.property(args, args, (one, other) => {
      const normal = (given: unknown): string => JSON.stringify(given);
      expect(keyOf(...structuredClone(one))).toBe(keyOf(...one));
      if (normal(one) !== normal(other) && keyOf(...one) === keyOf(...other)) expect(one).toEqual(other);
    }),
  );
});

it('refuses what would get the key of something else, or has no end, and says to give keyOf', () => {
  class List extends Array<number> {}
  class Day extends Date {}
  class Bare extends (null as unknown as ObjectConstructor) {}
  const cyclic: Record<string, unknown> = {};
  cyclic.self = { cyclic };
  let deep: unknown[] = [];
  for (let level = 0; level < 20_000; level++) deep = [deep];
  let wide: unknown = 1;
  for (let level = 0; level < 60; level++) wide = [wide, wide];
  const fails = (): never => {
    throw new TypeError('no');
  };
  const odd: unknown[] = [
    List.from([1]),
    new Day(1),
    Object.create(Bare.prototype),
    Object.assign([1], { more: 2 }),
    Object.assign(new Array(1), { more: 2 }), // a hole and a property: the count is that of a whole array
    Object.assign([1], { [Symbol('s')]: 2 }),
    Object.assign(new Date(1), { more: 2 }),
    { [Symbol('s')]: 1 },
    Object.defineProperty({}, 'hidden', { value: 1 }),
    Object.create(Date.prototype),
    // biome-ignore lint/suspicious/noSparseArray: that is what is tested
    [, 1],
    Object(1),
    Object('a'),
    /a/,
    new Error('a'),
    new Uint8Array(1),
    cyclic,
    deep,
    wide,
    Object.defineProperty({}, 'lang', { enumerable: true, get: fails }),
    new Proxy({}, { ownKeys: fails }),
  ];
  for (const one of odd) {
    for (const argument of [one, [one], { one }]) {
      expect(() => keyOf('a', argument)).toThrow(expect.objectContaining({ code: 'OPTION' }));
      expect(() => keyOf(argument)).toThrow('keyOf must be given');
    }
  }
});

it('is the same for an object that occurs twice, and for one without a prototype', () => {
  const twice = { a: 1 };
  expect(keyOf([twice, twice])).toBe('([{"a":1},{"a":1}])');
  expect(keyOf(Object.assign(Object.create(null), { a: 1 }))).toBe(keyOf({ a: 1 }));
});

it('is never the same for two values that differ in anything that a load can see', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    maxDepth: 3,
  });
  const seen = new Map<unknown, unknown>();
  const check = (value: unknown): void => {
    let key: unknown;
    try {
      key = keyOf(value);
    } catch (error) {
      expect(error).toMatchObject({ code: 'OPTION' });
      return;
    }
    if (seen.has(key)) expect(withoutMinusZero(value)).toStrictEqual(withoutMinusZero(seen.get(key)));
    seen.set(key, value);
  };
  fc.assert(fc.property(anything, check));
});

/** 0 and -0 are documented to be the same. */
function withoutMinusZero(value: unknown): unknown {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, withoutMinusZero(one)]));
}
