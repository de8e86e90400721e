// What the suites of memoizers agree on (p-memoize, memoizee with promises, moize, memoize-one, `memoize` of Deno's standard library), as
// facts about `refreshing`, and where it differs on purpose: those that test/unit/callable does not say.
import { describe, expect, test } from 'vitest';
import { refreshing } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const options = () => ({ clock: new FakeClock(), logger: false, retry: false, random: () => 0.5 }) as const;

/** Counts its calls, whose results are that count. */
function counted() {
  const calls: unknown[][] = [];
  const load = async (...args: readonly unknown[]): Promise<number> => calls.push([...args]);
  return { calls, load };
}

describe('what memoizers agree on', () => {
  test.each([
    ['a number and its text', [1], ['1']],
    ['true and its text', [true], ['true']],
    ['null, undefined and their texts', [null], ['null']],
    ['null and no argument', [null], []],
    ['a list and its only element', [[1]], [1]],
    ['two texts and both in one', ['a', 'b'], ['a,b']],
    ['two texts and a list of both', ['a', 'b'], [['a', 'b']]],
    ['a big integer and a number', [1n], [1]],
    ['objects with other values', [{ a: 1 }], [{ a: 2 }]],
    ['an object without a property and one with undefined', [{}], [{ a: undefined }]],
    ['dates', [new Date(1)], [new Date(2)]],
    ['names of Object.prototype', ['__proto__'], ['constructor']],
  ])('different arguments are different keys: %s', async (_, one, other) => {
    const { load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true });
    expect([await cached(...one), await cached(...other), await cached(...one)]).toEqual([1, 2, 1]);
  });

  test.each([
    ['NaN', [Number.NaN], [Number.NaN]],
    ['0 and -0', [0], [-0]],
    ['objects of the same structure, in any order', [{ a: 1, b: [2] }], [{ b: [2], a: 1 }]],
    ['dates of one instant', [new Date(1)], [new Date(1)]],
    ['a left-out last argument and undefined', ['a', undefined], ['a']],
  ])('equal arguments are one key: %s', async (_, one, other) => {
    const { load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true });
    expect([await cached(...one), await cached(...other)]).toEqual([1, 1]);
  });

  test('two functions share nothing, also of one load', async () => {
    const { load } = counted();
    const [one, other] = [1, 2].map(() => refreshing(load, { ...options(), keyed: true }));
    expect([await one?.('a'), await other?.('a')]).toEqual([1, 2]);
  });

  test('null, false, 0 and an empty text are results like others', async () => {
    for (const result of [null, false, 0, '']) {
      let calls = 0;
      const load = async (_key: string) => {
        calls += 1;
        return result;
      };
      const cached = refreshing(load, options());
      expect([await cached('a'), await cached('a'), calls]).toEqual([result, result, 1]);
    }
  });

  test('the function keeps the name of its load', () => {
    async function ratesOf(_base: string): Promise<number> {
      return 1;
    }
    expect(refreshing(ratesOf, options()).name).toBe('ratesOf');
  });
});

describe('where it differs on purpose', () => {
  test('a load that throws at once rejects: the function never throws', async () => {
    const load = (_key: string): Promise<number> => {
      throw new Error('at once');
    };
    await expect(refreshing(load, options())('a')).rejects.toThrow('at once');
  });
});
