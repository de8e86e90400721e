// What the suites of memoizers agree on (p-memoize, memoizee with promises, moize, memoize-one, `memoize` of Deno's standard library), as
// facts about `refreshing`, and where it differs on purpose.
import { describe, expect, test } from 'vitest';
import { absent, isTicklessError, refreshing } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';

const options = () => ({ clock: new FakeClock(), logger: false, retry: false, random: () => 0.5 }) as const;

/** Counts its calls, whose results are that count. */
function counted() {
  const calls: unknown[][] = [];
  const load = async (...args: readonly unknown[]): Promise<number> => calls.push([...args]);
  return { calls, load };
}

describe('what memoizers agree on', () => {
  test('one call for the same arguments, another one for others', async () => {
    const { calls, load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true });
    expect([await cached(), await cached(), await cached('foo'), await cached('foo')]).toEqual([1, 1, 2, 2]);
    expect([await cached('foo', 'bar'), await cached('foo', 'bar'), await cached()]).toEqual([3, 3, 1]);
    expect(calls).toEqual([[], ['foo'], ['foo', 'bar']]);
  });

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

  test('calls at the same time share one call, and its failure', async () => {
    const calls: Deferred<number>[] = [];
    const load = (_key: string): Promise<number> => {
      const call = new Deferred<number>();
      calls.push(call);
      return call.promise;
    };
    const cached = refreshing(load, options());
    const same = [cached('a'), cached('a'), cached('a')];
    const fails = Promise.allSettled([cached('b'), cached('b')]);
    expect(calls).toHaveLength(2);
    calls[0]?.resolve(7);
    calls[1]?.reject(new Error('no'));
    expect(await Promise.all(same)).toEqual([7, 7, 7]);
    const [first, second] = (await fails) as PromiseRejectedResult[];
    expect(isTicklessError(first?.reason, 'LOAD_FAILED')).toBe(true);
    expect(second?.reason).toBe(first?.reason);
  });

  test('a later call returns the same object', async () => {
    const cached = refreshing(async (_key: string) => ({}), options());
    expect(await cached('a')).toBe(await cached('a'));
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

  test('the arguments that were used least recently are forgotten first', async () => {
    const { calls, load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true, max: 2 });
    for (const key of ['a', 'b', 'a', 'c', 'a']) await cached(key);
    expect(calls).toEqual([['a'], ['b'], ['c']]);
    await cached('b');
    expect(calls).toHaveLength(4);
  });

  test('results are forgotten one by one, and all at once', async () => {
    const { calls, load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true });
    for (const key of ['a', 'b']) await cached(key);
    cached.delete('a');
    for (const key of ['a', 'b']) await cached(key);
    expect(calls).toEqual([['a'], ['b'], ['a']]);
    cached.clear();
    for (const key of ['a', 'b']) await cached(key);
    expect(calls).toHaveLength(5);
  });

  test('the function keeps the name of its load', () => {
    async function ratesOf(_base: string): Promise<number> {
      return 1;
    }
    expect(refreshing(ratesOf, options()).name).toBe('ratesOf');
  });

  test('a key of one argument only: keyOf', async () => {
    const { calls, load } = counted();
    const cached = refreshing(load as (a: string, b: object) => Promise<number>, {
      ...options(),
      keyed: true,
      keyOf: (a) => a,
    });
    await cached('a', { x: 1 });
    await cached('a', new Map());
    expect(calls).toEqual([['a', { x: 1 }]]);
  });
});

describe('where it differs on purpose', () => {
  test('a failure is no result, and no call either until the cool-down is over', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const load = async (_key: string): Promise<number> => {
      calls += 1;
      if (calls === 1) throw new Error('no');
      return calls;
    };
    const cached = refreshing(load, { ...options(), clock });
    expect(isTicklessError(await cached('a').catch((error) => error), 'LOAD_FAILED')).toBe(true);
    expect(isTicklessError(await cached('a').catch((error) => error), 'COOLING_DOWN')).toBe(true);
    expect(calls).toBe(1);
    await clock.advance('1s');
    expect(await cached('a')).toBe(2);
  });

  test('a load that throws at once rejects: the function never throws', async () => {
    const load = (_key: string): Promise<number> => {
      throw new Error('at once');
    };
    await expect(refreshing(load, options())('a')).rejects.toThrow('at once');
  });

  test('an old result is served while the next one is loaded, in place of a call that waits at its expiry', async () => {
    const clock = new FakeClock();
    const { load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true, clock, schedule: '1m' });
    expect(await cached('a')).toBe(1);
    await clock.advance('1m');
    expect(await cached('a')).toBe(1);
    await clock.flush();
    expect(await cached('a')).toBe(2);
  });

  test('arguments without a key are refused, in place of one result for all of them', async () => {
    const { calls, load } = counted();
    const cached = refreshing(load, { ...options(), keyed: true });
    for (const argument of [Symbol('a'), () => {}, new Map([['a', 1]]), /a/, new (class Id {})()]) {
      const error = await cached(argument).catch((reason) => reason);
      expect(isTicklessError(error, 'OPTION')).toBe(true);
    }
    expect(calls).toEqual([]);
  });

  test('a source that has nothing is an answer of its own: absent', async () => {
    let calls = 0;
    const load = async (_code: string) => {
      calls += 1;
      return absent();
    };
    const cached = refreshing(load, options());
    expect([await cached.getIfPresent('a'), await cached.getIfPresent('a'), calls]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });
});
