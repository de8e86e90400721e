import { describe, expect, it } from 'vitest';
import { changesAtMost, every, growsAtMost, notEmpty, shrinksAtMost } from '../../../src/guards/index.ts';
import type { Accept } from '../../../src/index.ts';
import { fakeValue } from '../../support/manual-value.ts';

/** What the guard says of a value after another one. */
function verdict<T>(guard: Accept<T>, candidate: T, before?: T): ReturnType<Accept<T>> {
  const previous = before === undefined ? undefined : { value: before, loadedAt: 0 };
  return guard(candidate, { previous, version: undefined, trigger: 'due', key: undefined });
}

const list = (length: number, from = 0): number[] => Array.from({ length }, (_, index) => from + index);

/** Values of one size, of each kind that has one. */
const kinds: [string, (length: number) => unknown][] = [
  ['arrays', list],
  ['Maps', (length) => new Map(list(length).map((one) => [one, {}]))],
  ['Sets', (length) => new Set(list(length))],
  ['records', (length) => Object.fromEntries(list(length).map((one) => [`k${one}`, one]))],
  ['records without a prototype', (length) => Object.assign(Object.create(null), list(length))],
];

describe.each(kinds)('of %s', (_, of) => {
  it.each<[string, Accept, number, number | undefined, unknown]>([
    ['notEmpty', notEmpty(), 1, undefined, true],
    ['notEmpty', notEmpty(), 0, 5, 'it is empty'],
    ['shrinksAtMost', shrinksAtMost(0.29), 71, 100, true],
    ['shrinksAtMost', shrinksAtMost(0.3), 69, 100, 'it shrinks by 31 %, at most 30 % is allowed'],
    ['shrinksAtMost', shrinksAtMost(0.3), 900, 100, true],
    ['shrinksAtMost', shrinksAtMost(0), 0, 0, true],
    ['shrinksAtMost', shrinksAtMost(0.3), 0, undefined, true],
    ['growsAtMost', growsAtMost(2), 200, 100, true],
    ['growsAtMost', growsAtMost(2), 201, 100, 'it grows to 2.01 times its size, at most 2 is allowed'],
    ['growsAtMost', growsAtMost(2), 5, 0, true],
    ['growsAtMost', growsAtMost(1), 5, undefined, true],
    ['changesAtMost', changesAtMost(0.5), 50, 100, true],
    ['changesAtMost', changesAtMost(0.5), 150, 100, true],
    ['changesAtMost', changesAtMost(0.5), 49, 100, '51 % of it changes, at most 50 % is allowed'],
    ['changesAtMost', changesAtMost(0.5), 151, 100, '51 % of it changes, at most 50 % is allowed'],
    ['changesAtMost', changesAtMost(0), 5, undefined, true],
  ])('%s %#', (_name, guard, size, before, expected) => {
    expect(verdict(guard, of(size), before === undefined ? undefined : of(before))).toBe(expected);
  });
});

it('changesAtMost sees elements that were replaced by others', () => {
  const guard = changesAtMost(0.5);
  expect(verdict(guard, list(100, 50), list(100))).toBe(true);
  expect(verdict(guard, list(100, 60), list(100))).toBe('60 % of it changes, at most 50 % is allowed');
  expect(verdict<unknown>(guard, { a: 1, x: 1, y: 1 }, { a: 0, b: 0, c: 0 })).toMatch('66.7 %');
  expect(verdict(guard, [1, 1, 1, 2], [1, 2, 2, 2])).toBe(true);
  expect(verdict(guard, [1, 1, 1, 1], [1, 2, 2, 2])).toMatch('75 %');
});

it('changesAtMost compares only sizes where it has sizeOf, and takes null for an element', () => {
  const bySize = changesAtMost<object>(0.5, { sizeOf: () => 1 });
  expect(verdict<object>(bySize, { a: 1 }, { b: 1 })).toBe(true);
  const byId = changesAtMost(0, { idOf: ({ id }: { id: number }) => id });
  expect(verdict<unknown>(byId, [null], [null])).toBe(true);
});

it('changesAtMost counts objects, unless it knows what identifies them', () => {
  const rows = (codes: readonly number[]) => codes.map((plate) => ({ plate }));
  const byCode = changesAtMost<{ plate: number }[]>(0.5, { idOf: ({ plate }: { plate: number }) => plate });
  expect(verdict(changesAtMost(0), rows(list(9, 90)), rows(list(9)))).toBe(true);
  expect(verdict(byCode, rows(list(9)), rows(list(9)))).toBe(true);
  expect(verdict(byCode, rows(list(9, 90)), rows(list(9)))).toMatch('100 %');
});

it('changesAtMost sees a field that tells the rows of both lists apart', () => {
  const guard = changesAtMost(0.5);
  const rows = (codes: readonly number[]) => codes.map((code) => ({ code, at: Math.random() }));
  expect(verdict(guard, [{ code: 99, at: 0 }, ...rows(list(9))], rows(list(9)))).toBe(true);
  expect(verdict(guard, rows(list(9, 90)), rows(list(9)))).toMatch('100 %');
  expect(verdict(guard, new Set(rows(list(9, 90))), new Set(rows(list(9))))).toMatch('100 %');
  expect(verdict(guard, [...rows(list(8, 90)), { code: 90, at: 1 }], rows(list(9)))).toBe(true); // two have one code: counted
});

it.each([
  ['shrinksAtMost', shrinksAtMost(0.5, { idOf: ({ plate }: { plate: number }) => plate })],
  ['every', every(notEmpty(), changesAtMost(0.5, { idOf: ({ plate }: { plate: number }) => plate }))],
])('%s hands its idOf on to those that show what a refused list changes', (_, accept) => {
  expect(Object.getOwnPropertyDescriptor(accept, 'idOf')?.value({ plate: 7 })).toBe(7);
});

it.each<[string, (options: { sizeOf: (value: string) => number }) => Accept<string>]>([
  ['notEmpty', (options) => notEmpty(options)],
  ['shrinksAtMost', (options) => shrinksAtMost(0.5, options)],
  ['growsAtMost', (options) => growsAtMost(3, options)],
  ['changesAtMost', (options) => changesAtMost(0.5, options)],
])('%s counts by sizeOf', (_, make) => {
  const guard = make({ sizeOf: ({ length }) => length });
  expect(verdict(guard, 'abc', 'abcd')).toBe(true);
  expect(['', 'a'.repeat(13)].map((text) => verdict(guard, text, 'abcd'))).not.toEqual([true, true]);
  const broken = make({ sizeOf: () => Number.NaN });
  expect(() => verdict(broken, 'a')).toThrow('sizeOf must return a finite number of 0 or more, received NaN');
});

it.each([
  ['notEmpty', notEmpty()],
  ['shrinksAtMost', shrinksAtMost(0.5)],
  ['growsAtMost', growsAtMost(2)],
  ['changesAtMost', changesAtMost(1)],
] as const)('%s refuses to count what has no elements', async (name, accept) => {
  class Prices {}
  expect(() => verdict(accept, 'text')).toThrow(
    `${name}: sizeOf must be given for a value that is not an array`,
  );
  const { value } = fakeValue(() => new Prices(), { accept });
  await expect(value.get()).rejects.toMatchObject({
    code: 'REFUSED',
    cause: { code: 'OPTION' },
  });
});

it('accepts after a value that has no size', () => {
  expect(verdict<unknown>(shrinksAtMost(0), [], 'text')).toBe(true);
});

describe('every', () => {
  it('gives the first refusal, and asks no other after it', async () => {
    const asked: string[] = [];
    const guard =
      (name: string, result: ReturnType<Accept>): Accept =>
      () => {
        asked.push(name);
        return result;
      };
    expect(verdict(every(notEmpty(), guard('a', true)), [1])).toBe(true);
    expect(verdict(every(guard('b', 'no'), guard('c', true)), [1])).toBe('no');
    expect(
      await verdict(every(guard('d', Promise.resolve(true)), guard('e', 'not this'), guard('f', true)), [1]),
    ).toBe('not this');
    expect(asked).toEqual(['a', 'b', 'd', 'e']);
    expect(verdict(every(), [])).toBe(true);
  });

  it('counts as the first that knows how to', async () => {
    const accept = every<string>(() => true, notEmpty({ sizeOf: ({ length }) => length - 3 }));
    const { value } = fakeValue(() => 'abc', { accept });
    await expect(value.get()).rejects.toThrow('value refused: it is empty (size 0)');
  });
});

it.each<[() => unknown, string]>([
  [() => notEmpty({ size: 1 } as never), 'notEmpty: size is unknown (did you mean sizeOf?)'],
  [() => notEmpty({ sizeOf: 1 } as never), 'sizeOf must be a function'],
  [() => shrinksAtMost(1.1), 'shrinksAtMost: share must be a number from 0 to 1, received 1.1'],
  [() => growsAtMost(0.5), 'growsAtMost: factor must be a finite number of 1 or more'],
  [() => growsAtMost(Infinity), 'factor must be a finite number of 1 or more'],
  [() => changesAtMost(-1), 'changesAtMost: share must be a finite number of 0 or more'],
  [() => changesAtMost(1, { sizeOf: () => 1, idOf: () => 1 }), 'idOf must not be given beside sizeOf'],
  [() => every(notEmpty(), true as never), 'every: guards[1] must be a function'],
])('refuses arguments that make no sense %#', (make, message) => {
  expect(make).toThrow(message);
});
