import { expectTypeOf, test } from 'vitest';
import {
  absent,
  type KeyContext,
  keep,
  loaded,
  RefreshGroup,
  RefreshingCache,
  type ValueStatus,
} from '../../../src/index.ts';

interface City {
  readonly name: string;
}

const name = 'cities';
const city: City = { name: 'Amsterdam' };

test('key and value are inferred from load', async () => {
  const cache = new RefreshingCache({ name, load: async (code: string) => (code === '' ? absent() : city) });
  expectTypeOf(cache).toEqualTypeOf<RefreshingCache<string, City>>();
  expectTypeOf(await cache.get('1012')).toEqualTypeOf<City>();
  expectTypeOf(cache.current('1012')).toEqualTypeOf<City>();
  expectTypeOf(cache.peek('1012')).toEqualTypeOf<City | undefined>();
  expectTypeOf(cache.inspect('1012')).toEqualTypeOf<ValueStatus<City> | undefined>();
  expectTypeOf(await cache.getMany(['1012'])).toEqualTypeOf<Map<string, City>>();
  // @ts-expect-error: keys are strings
  cache.get(1012);
  // @ts-expect-error: values are cities
  cache.set('1012', 'Amsterdam');
});

test('key and value are inferred where the context is destructured', () => {
  const cache = new RefreshingCache({
    name,
    load: async (code: string, { signal, key }) => {
      signal.throwIfAborted();
      return { name: `${code}${key}` };
    },
  });
  expectTypeOf(cache.current('a')).toEqualTypeOf<{ name: string }>();
});

test('with loaded(), keep() and the previous value', () => {
  const cache = new RefreshingCache({
    name,
    load: (code: number, { previous }: KeyContext<number, City>) =>
      previous?.value.name === `${code}` ? keep() : loaded(city, { tags: ['nl'] }),
  });
  expectTypeOf(cache.current(5)).toEqualTypeOf<City>();
});

test('key and value are inferred from loadMany', async () => {
  const cache = new RefreshingCache({
    name,
    loadMany: async (codes: readonly string[]) => new Map(codes.map((code) => [code, city])),
  });
  expectTypeOf(await cache.get('1012')).toEqualTypeOf<City>();
  const mixed = new RefreshingCache<string, City>({
    name,
    loadMany: async (codes, { signal, previous }) => {
      expectTypeOf(codes).toEqualTypeOf<readonly string[]>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(previous.get('a')?.value).toEqualTypeOf<City | undefined>();
      return new Map(codes.map((code) => [code, code === '' ? new Error('no') : city]));
    },
  });
  expectTypeOf(mixed.current('a')).toEqualTypeOf<City>();
});

test('loadMany with absent() needs no type by hand', () => {
  const rows = new Map([[1012, city]]);
  const lookUp = async (codes: readonly number[]): Promise<Map<number, City>> =>
    new Map(codes.flatMap((code) => (rows.has(code) ? [[code, city] as const] : [])));
  const left = new RefreshingCache({ name, loadMany: async (codes: readonly number[]) => lookUp(codes) });
  expectTypeOf(left).toEqualTypeOf<RefreshingCache<number, City>>();
  const said = new RefreshingCache({
    name,
    loadMany: async (codes: readonly number[]) => {
      const found = await lookUp(codes);
      return new Map(codes.map((code) => [code, found.get(code) ?? absent()]));
    },
  });
  expectTypeOf(said).toEqualTypeOf<RefreshingCache<number, City>>();
  const tagged = new RefreshingCache({
    name,
    loadMany: (codes: readonly number[]) =>
      new Map(codes.map((code) => [code, rows.has(code) ? loaded(city, { tags: ['nl'] }) : absent()])),
  });
  expectTypeOf(tagged.current(5)).toEqualTypeOf<City>();
  const byCode = new RefreshingCache({
    name,
    loadMany: async (codes: readonly string[]) => Object.fromEntries(codes.map((code) => [code, city])),
  });
  expectTypeOf(byCode).toEqualTypeOf<RefreshingCache<string, City>>();
});

test('members of a group', () => {
  const group = new RefreshGroup();
  const cache = group.cache({ name, load: async (code: string) => ({ code }) });
  expectTypeOf(cache).toEqualTypeOf<RefreshingCache<string, { code: string }>>();
  const value = group.value({ name, load: () => 5, required: true });
  expectTypeOf(value.current).toEqualTypeOf<number>();
});
