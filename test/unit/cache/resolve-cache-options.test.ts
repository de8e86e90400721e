import { describe, expect, it } from 'vitest';
import { resolveCacheOptions } from '../../../src/cache/resolve-cache-options.ts';
import { type CacheOptions, RefreshingCache } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance } from '../../support/keyed-cluster.ts';
import { ofOption, problemsIn } from '../../support/option-errors.ts';
import { thrownBy } from '../../support/settle.ts';

type Options = Partial<CacheOptions<string, string>>;

const load = (key: string): string => key;
const sizeOf = (): number => 1;
const loadMany = (keys: readonly string[]) => new Map(keys.map((key) => [key, key]));

const resolved = (options: Options) => resolveCacheOptions<string, string, string>({ name: 'c', ...options });

describe('the bounds of a cache', () => {
  it.each<[string, Options, object, number, number]>([
    ['by default', { load }, { max: 10_000 }, 1000, 10_000],
    ['with max', { load, max: 55 }, { max: 55 }, 5, 55],
    ['with a small max', { load, max: 5 }, { max: 5 }, 1, 5],
    ['with maxSize', { load, maxSize: 7, sizeOf }, { maxSize: 7 }, 1000, 10_000],
    ['with both', { load, max: 30, maxSize: 7, sizeOf }, { max: 30, maxSize: 7 }, 3, 30],
  ])('%s', (_, options, bound, maxAbsent, maxFailed) => {
    const policy = resolved(options);
    expect(policy.bound).toStrictEqual(bound);
    expect(policy).toMatchObject({ maxAbsent, maxFailed });
  });

  it('batchSize limits the keys of one load', () => {
    const of = (options: Options): number => resolved(options).perLoad;
    expect([of({ load }), of({ loadMany }), of({ loadMany, batchSize: 5 })]).toEqual([1, Infinity, 5]);
  });
});

describe('an option of a cache that breaks a rule', () => {
  const noBounds = [0, -1, 1.5, Number.NaN, '5'];
  it.each<[object, string, string]>([
    ...[...noBounds, Infinity].map((max): [object, string, string] => [{ load, max }, 'max', 'whole number']),
    ...noBounds.map((maxSize): [object, string, string] => [
      { load, maxSize, sizeOf },
      'maxSize',
      'whole number',
    ]),
    [{}, 'load', 'must be'],
    [{ loadMany: 5 }, 'loadMany', 'must be a function'],
    [{ load, loadMany }, 'load', 'beside loadMany'],
    [{ load, batchSize: 5 }, 'batchSize', 'without loadMany'],
    [{ load, maxSize: 5 }, 'sizeOf', 'with maxSize'],
    [{ load, maxSize: 5, sizeOf: 5 }, 'sizeOf', 'must be a function'],
    [{ load, sizeOf }, 'maxSize', 'with sizeOf'],
    [{ load, keyOf: 'id' }, 'keyOf', 'must be a function'],
    [{ load, max: 2 ** 24 + 1 }, 'max', 'whole number'],
  ])('is reported with that rule: %o', (options, option, rule) => {
    const problems = problemsIn(thrownBy(() => resolved(options)));
    expect(problems).toMatchObject([{ option, rule: expect.stringContaining(rule) }]);
  });

  it('is reported also without any options', () => {
    for (const none of [undefined, null]) {
      expect(thrownBy(() => new RefreshingCache(none as never))).toMatchObject({ code: 'OPTION' });
    }
  });

  it('valid options are accepted', () => {
    for (const fine of [{ max: 2 ** 24 }, { keyOf: load }]) {
      expect(() => resolved({ load, ...fine } as Options)).not.toThrow();
    }
  });
});

describe('loadMany', () => {
  it('is called in the microtasks of the read, without a lock and a store', async () => {
    const calls: (readonly string[])[] = [];
    const cache = new RefreshingCache<string, string>({
      name: 'c',
      loadMany: (keys) => {
        calls.push(keys);
        return loadMany(keys);
      },
    });
    let isNext = false;
    setImmediate(() => {
      isNext = true;
    });
    const read = cache.getMany(['a', 'b']);
    while (calls.length === 0 && !isNext) await Promise.resolve();
    expect([calls, isNext]).toEqual([[['a', 'b']], false]);
    await read;
  });

  it.each([
    ['a lock alone', { store: undefined }],
    ['a backend', {}],
  ])('waits for keys that %s holds up', async (_, parts) => {
    const cluster = new ManualCluster();
    const calls: (readonly string[])[] = [];
    const { cache, link } = keyedInstance(cluster, {
      ...parts,
      loadMany: (keys) => {
        calls.push(keys);
        return loadMany(keys);
      },
    });
    let asked = 0;
    link.fault = () => {
      asked += 1;
      return new Promise((resolve) => setImmediate(resolve));
    };
    const read = cache.getMany(['x', 'y', 'z']);
    while (calls.length === 0) await cluster.clock.flush(); // until the timeout of the test
    expect(asked).toBeGreaterThan(0);
    expect(calls).toEqual([['x', 'y', 'z']]);
    await cluster.clock.flush();
    expect((await read).size).toBe(3);
  });
});

it.each([[10n], [Symbol('max')]])('max: %o is refused by its name', (max) => {
  const made = thrownBy(() => new RefreshingCache({ name: 'c', load: () => 1, max: max as never }));
  expect(made).toMatchObject(ofOption('max'));
});
