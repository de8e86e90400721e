// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { expectTypeOf, test } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import type { ObjectClient } from '../../../src/sources/index.ts';
import { fileSource, firstOf, httpSource, mergeOf, objectSource } from '../../../src/sources/index.ts';

const place = { client: {} as ObjectClient, bucket: 'prices', key: 'all' };
type Rows = Record<string, string>[];
type Rates = Readonly<Record<string, number>>;

test('the format of a source of bytes is the type of its value', () => {
  const texts = [
    httpSource('https://prices.example', { parse: 'text' }),
    fileSource('prices.txt', { parse: 'text' }),
    objectSource({ ...place, parse: 'text' }),
  ];
  const tables = [
    httpSource('https://prices.example', { parse: 'csv' }),
    fileSource('prices.csv', { parse: 'csv' }),
    objectSource({ ...place, parse: 'csv' }),
  ];
  for (const load of texts)
    expectTypeOf(new RefreshingValue({ name: 'v', load }).current).toEqualTypeOf<string>();
  for (const load of tables)
    expectTypeOf(new RefreshingValue({ name: 'v', load }).current).toEqualTypeOf<Rows>();
});

test('the type of JSON is the one that is given, and of a function what it returns', () => {
  const load = fileSource<Rates>('rates.json');
  expectTypeOf(new RefreshingValue({ name: 'v', load }).current).toEqualTypeOf<Rates>();
  const parsed = fileSource('length', { parse: ({ bytes }) => bytes.length });
  expectTypeOf(new RefreshingValue({ name: 'v', load: parsed }).current).toEqualTypeOf<number>();
});

test('several are of the type of all of them', () => {
  const rates = firstOf(httpSource<Rates>('https://rates.example'), fileSource<Rates>('rates.json'));
  expectTypeOf(new RefreshingValue({ name: 'v', load: rates }).current).toEqualTypeOf<Rates>();
  const load = mergeOf({ rates, note: fileSource('note', { parse: 'text' }) });
  const { current } = new RefreshingValue({ name: 'v', load });
  expectTypeOf(current.rates).toEqualTypeOf<Rates>();
  expectTypeOf(current.note).toEqualTypeOf<string>();
});
