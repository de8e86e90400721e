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
