import { expect, test } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  fileSource,
  firstOf,
  httpSource,
  objectSource,
  type QueryClient,
  querySource,
  type Source,
} from '../../../src/sources/index.ts';
import { compareVersions } from '../../support/compare-versions.ts';
import { fakeValue } from '../../support/manual-value.ts';

interface Price {
  readonly sku: string;
  readonly price: number;
}
type Prices = readonly Price[];

const idOf = ({ sku }: Price): string => sku;
const url = 'https://prices.example/all';
const query = {
  client: { prepare: () => ({ iterate: () => [] }) } as unknown as QueryClient,
  sql: 'SELECT 1',
};
const object = { client: { getObject: async () => ({}) } as never, bucket: 'b', key: 'k' };

test.each<[string, Source<Prices>]>([
  ['httpSource', httpSource<Prices>(url, { idOf })],
  ['fileSource', fileSource<Prices>('prices.json', { idOf })],
  ['objectSource', objectSource<Prices>({ ...object, idOf })],
  ['querySource', querySource<Price>({ ...query, idOf })],
  ['firstOf', firstOf<Prices>(httpSource<Prices>(url), httpSource<Prices>(url, { idOf }))],
])('%s says what tells its records apart', (_, source) => {
  expect(source.idOf).toBe(idOf);
});

test.each([
  ['httpSource', (wrong: never) => httpSource(url, { idOf: wrong })],
  ['fileSource', (wrong: never) => fileSource('prices.json', { idOf: wrong })],
  ['objectSource', (wrong: never) => objectSource({ ...object, idOf: wrong })],
  ['querySource', (wrong: never) => querySource({ ...query, idOf: wrong })],
])('%s refuses an idOf that is not a function', (_, make) => {
  expect(() => make('sku' as never)).toThrow('idOf must be a function');
});

const editions: readonly Prices[] = [
  [{ sku: 'a', price: 1 }, { sku: 'b', price: 2 }],
  [{ sku: 'b', price: 3 }, { sku: 'a', price: 1 }],
]; // biome-ignore format: a row each

function priceList(answers: readonly Prices[], more: object) {
  const left = [...answers];
  const fetch = async () => Response.json(left.shift());
  return fakeValue<Prices>(httpSource<Prices>(url, { idOf, fetch }), more).value;
}

test('a refused list is compared by the idOf of its source; that of the guard comes first', async () => {
  const isFirst =
    () =>
    (_: Prices, { previous }: { readonly previous: unknown }) =>
      previous === undefined;
  for (const [accept, expected] of [
    [isFirst(), { changed: { count: 1 }, unchanged: 1 }],
    [
      Object.assign(isFirst(), { idOf: ({ price }: Prices[number]) => price }),
      { added: { count: 1 }, removed: { count: 1 } },
    ],
  ] as const) {
    const prices = priceList(editions, { accept });
    await prices.get();
    await expect(prices.refresh()).rejects.toThrow();
    expect(prices.inspect().refused?.differences).toMatchObject(expected);
  }
});

test('versions are compared by the idOf of the source', async () => {
  const prices = priceList(editions, { backend: memoryBackend({ keepVersions: 2 }) });
  await prices.get();
  await prices.refresh();
  const [after, before] = await prices.history();
  const [from, to] = [before, after].map((one) => Number(one?.version)) as [number, number];
  const { changed, unchanged } = await compareVersions(prices, from, to);
  expect([changed.samples.map(({ id }) => id), unchanged]).toEqual([['b'], 1]);
});
