import { expect, it } from 'vitest';
import { type QueryClient, querySource } from '../../../src/sources/index.ts';
import { contextOf } from './origin.ts';

const client = { prepare: () => ({ iterate: () => [] }) };

it('checks its options at once', () => {
  const good = { client, sql: 'SELECT 1' };
  const wrong: object[] = [
    { client: {} },
    { client: undefined },
    { client: () => {} },
    { sql: '' },
    { params: { a: 1 } },
    { changed: 1 },
    { map: 'rows' },
    { maxRows: 0 },
    { timeout: 0 },
    { source: '' },
    { source: 'x'.repeat(501) },
  ];
  const refused = expect.objectContaining({ code: 'OPTION' });
  for (const one of wrong) expect(() => querySource({ ...good, ...one } as never)).toThrow(refused);
  expect(() => querySource(undefined as never)).toThrow(refused);
  expect(() => querySource({ ...good, maxrows: 1 } as never)).toThrow('did you mean maxRows?');
  expect(() => querySource({ ...good, timeout: Infinity, maxRows: Infinity })).not.toThrow();
});

it('says so in one rule when the client comes in place of the options', () => {
  const options = 'options must be an object: { client, sql }, received "(object, not shown)"';
  const inPlace = querySource as (...given: unknown[]) => unknown;
  for (const given of [client, { query: () => {}, _events: {} }])
    expect(() => inPlace(given, 'SELECT 1')).toThrow(options);
  expect(() => inPlace('SELECT 1')).toThrow('options must be an object: { client, sql }');
});

it.each([
  ['changed', 'SELECT nope', 'SELECT 1'],
  ['query', 'SELECT 1', 'SELECT nope'],
])('names what failed: %s', async (what, changed, sql) => {
  const prepare = (text: string) => {
    if (text === 'SELECT nope') throw new Error('no such column: nope');
    return { iterate: () => [], all: () => [], raw: () => {}, setReturnArrays: () => {} };
  };
  const load = querySource({ client: { prepare } as unknown as QueryClient, sql, changed });
  await expect(load(contextOf())).rejects.toThrow(`${what} failed: no such column: nope (${sql})`);
});

it('shows nothing of a client that it does not know', () => {
  const stranger = { url: 'postgres://user:secret@db' } as unknown as QueryClient;
  expect(() => querySource({ client: stranger, sql: 'SELECT 1' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
  const wrong = { client, sql: 'SELECT 1', connectionString: 'postgres://user:secret@db' };
  expect(() => querySource(wrong)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
});
