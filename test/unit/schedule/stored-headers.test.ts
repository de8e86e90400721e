import { describe, expect, it } from 'vitest';
import { headerOf } from '../../../src/schedule/http-headers.ts';
import type { HeadersLike } from '../../../src/schedule/schedule.ts';
import { areStoredHeaders, freshened, storedHeaders } from '../../../src/schedule/stored-headers.ts';

describe('storedHeaders', () => {
  it('are the fields about freshness, by their names in lower case', () => {
    const fields = { 'Cache-Control': 'max-age=1', Expires: '0', 'Last-Modified': 'x', Date: 'y', Age: '2' };
    const found = { 'cache-control': 'max-age=1', expires: '0', 'last-modified': 'x', date: 'y', age: '2' };
    const others = { 'set-cookie': 'SECRET', authorization: 'SECRET', etag: '"1"' };
    expect(storedHeaders({ ...fields, ...others })).toEqual(found);
    expect(storedHeaders(new Headers({ ...fields, ...others }))).toEqual(found);
    expect(areStoredHeaders(found)).toBe(true);
  });

  it.each([
    [undefined],
    [null],
    [{}],
    ['max-age=1'],
    [5],
    [new Headers({ etag: '"1"' })],
    [{ get: () => 5n }],
    [{ get: () => JSON.parse('{') }],
    [Object.defineProperty({}, 'age', { enumerable: true, get: () => JSON.parse('{') })],
    [{ 'cache-control': 'x'.repeat(1000) }],
  ])('are none of the %#th thing', (headers) => {
    expect(storedHeaders(headers as unknown as HeadersLike)).toBe(undefined);
  });

  it.each([[null], [[]], ['x'], [{ age: 5 }], [{ age: null }], [{ 'cache-control': 'x'.repeat(1000) }]])(
    'can not be %o',
    (thing) => {
      expect(areStoredHeaders(thing)).toBe(false);
    },
  );
});

describe('freshened', () => {
  const stored = { 'cache-control': 'max-age=1', age: '5', 'x-own': '1' };

  it('leaves the update as it is where nothing is stored', () => {
    const update = new Headers({ age: '1' });
    for (const nothing of [undefined, {}, { age: '5', date: 'x' }, new Headers()])
      expect(freshened(nothing, update)).toBe(update);
    expect(freshened(undefined, undefined)).toBe(undefined);
  });

  it('has all fields of the update, as a schedule of your own may read them', () => {
    const plain = freshened(stored, { 'X-Own': '2' }) as Record<string, unknown>;
    expect(plain['X-Own']).toBe('2');
    const merged = freshened(stored, new Headers({ 'x-own': '2' })) as Headers;
    expect([merged.get('X-OWN'), merged.get('Cache-Control'), merged.get('age')]).toEqual([
      '2',
      'max-age=1',
      undefined,
    ]);
  });

  it.each([
    [null],
    ['text'],
    [5],
    [{ get: () => JSON.parse('{') }],
    [new Proxy({}, { has: () => JSON.parse('{') })],
  ])('does not stumble over an update that is not headers: %#', (update) => {
    const merged = freshened(stored, update as unknown as HeadersLike) as HeadersLike;
    expect(headerOf(merged, 'cache-control')).toBe('max-age=1');
  });

  it('does not grow with each confirmation', () => {
    let headers: HeadersLike | undefined = stored;
    for (let i = 0; i < 100_000; i++) headers = freshened(headers, { age: String(i) });
    expect(headerOf(headers as HeadersLike, 'cache-control')).toBe('max-age=1'); // a chain would exceed the stack
    expect(headerOf(headers as HeadersLike, 'age')).toBe('99999');
  });
});
