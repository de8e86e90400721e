import { expectTypeOf, test } from 'vitest';
import {
  absent,
  derive,
  type KeyedRefreshingFunction,
  keep,
  type LoadContext,
  loaded,
  type RefreshingCache,
  type RefreshingFunction,
  type RefreshingValue,
  refreshing,
} from '../../../src/index.ts';

interface City {
  readonly name: string;
}
const city: City = { name: 'Amsterdam' };
const maybe = Math.random() < 0.5;

test('without arguments it is a value', () => {
  const load = async () => new Map([['USD', 1.08]]);
  const rates = refreshing(load, { schedule: '10m', accept: (map) => map.size > 0 });
  expectTypeOf(rates).toEqualTypeOf<RefreshingFunction<typeof load>>();
  expectTypeOf(rates()).toEqualTypeOf<Promise<Map<string, number>>>();
  expectTypeOf(rates.current).toEqualTypeOf<Map<string, number>>();
  expectTypeOf(rates.member).toEqualTypeOf<RefreshingValue<Map<string, number>>>();
  expectTypeOf(rates.get({ maxStaleness: 5 })).toEqualTypeOf<Promise<Map<string, number>>>();
  expectTypeOf(derive(rates, (map) => map.size).current).toEqualTypeOf<number>();
  // @ts-expect-error: there is one value
  rates('USD');
  // @ts-expect-error: max is an option of a load with arguments
  refreshing(load, { max: 5 });
});

test('with arguments it is keyed by all of them', () => {
  const name = refreshing(async (code: string, language?: string) => `${code}${language}`, {
    max: 10_000,
    keyOf: (code, language) => {
      expectTypeOf([code, language] as const).toEqualTypeOf<readonly [string, string | undefined]>();
      return code;
    },
    accept: (value) => value.length > 0,
  });
  expectTypeOf(name('1012')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(name.current('1012', 'nl')).toEqualTypeOf<string>();
  expectTypeOf(name.getIfPresent('1012')).toEqualTypeOf<Promise<string | undefined>>();
  expectTypeOf(name.member).toEqualTypeOf<
    RefreshingCache<[code: string, language?: string | undefined], string>
  >();
  name.set(['1012', 'nl'], 'Amsterdam');
  // @ts-expect-error: codes are strings
  name(1012);
  // @ts-expect-error: the code is missing
  name();
});

test('the answers of loads are not part of the value, and a call always returns a promise', () => {
  const found = refreshing((code: string) => (maybe ? loaded(city) : code === '' ? absent() : keep()));
  expectTypeOf(found('1012')).toEqualTypeOf<Promise<City>>();
  expectTypeOf(refreshing(() => 5)()).toEqualTypeOf<Promise<number>>();
  expectTypeOf(refreshing(() => (maybe ? city : Promise.resolve(city)))()).toEqualTypeOf<Promise<City>>();
});

test('a load of a promise is called as it is declared: with its documentation, and generic', () => {
  const load = async <K extends keyof City>(field: K): Promise<City[K]> => city[field];
  const field = refreshing(load);
  expectTypeOf(field('name')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(field).toEqualTypeOf<KeyedRefreshingFunction<typeof load>>();
});

test('where arguments may be left out, the caller decides whether it is keyed', () => {
  const withDefault = async (code = 'nl') => code.length;
  const withRest = async (...codes: string[]) => codes.length;
  // @ts-expect-error: with or without a key?
  refreshing(withDefault);
  // @ts-expect-error: with or without a key?
  refreshing(withRest, { max: 5 });
  expectTypeOf(refreshing(withDefault, { keyed: true })('be')).toEqualTypeOf<Promise<number>>();
  expectTypeOf(refreshing(withRest, { keyed: true, max: 5 }).current('a', 'b')).toEqualTypeOf<number>();
  const single = refreshing(withDefault, { keyed: false });
  expectTypeOf(single.current).toEqualTypeOf<number>();
  // @ts-expect-error: it has one value
  single('be');
});

test('the context is no argument', () => {
  // @ts-expect-error: it would be a key
  refreshing(async ({ signal }: LoadContext) => signal.aborted);
});
