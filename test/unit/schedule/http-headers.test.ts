import { expect, it } from 'vitest';
import { headerOf } from '../../../src/schedule/http-headers.ts';
import type { HeadersLike } from '../../../src/schedule/schedule.ts';

const thrower = () => {
  throw new Error('mine');
};

it.each<[string, unknown, string | undefined]>([
  ['Headers', new Headers({ 'Cache-Control': ' max-age=5 ' }), 'max-age=5'],
  [
    'Headers with two',
    new Headers([
      ['cache-control', 'a'],
      ['cache-control', 'b'],
    ]),
    'a, b',
  ],
  ['Headers without', new Headers(), undefined],
  ['a plain object', { 'cache-control': 'max-age=5' }, 'max-age=5'],
  ['a plain object in another case', { 'Cache-Control': 'max-age=5' }, 'max-age=5'],
  ['several in an array', { 'cache-control': ['a', 'b'] }, 'a, b'],
  ['a Map', new Map([['cache-control', 'a']]), 'a'],
  ['a get that answers an array', { get: () => ['a', 'b'] }, 'a, b'],
  ['a number', { 'cache-control': 5 }, '5'],
  ['an empty value', { 'cache-control': '' }, ''],
  ['blanks around a value', { 'cache-control': ' max-age=5 ' }, 'max-age=5'],
  ['nonsense in it', { 'cache-control': { a: 1 } }, undefined],
  ['a header called get', { get: 'x', 'cache-control': 'a' }, 'a'],
  ['a list', ['a'], undefined],
  ['nothing', undefined, undefined],
  ['null', null, undefined],
  ['a string', 'cache-control: a', undefined],
  ['a get that throws', { get: thrower }, undefined],
  [
    'a getter that throws',
    Object.defineProperty({}, 'cache-control', { get: thrower, enumerable: true }),
    undefined,
  ],
  ['a proxy that throws', new Proxy({}, { has: thrower }), undefined],
])('headerOf: %s', (_, headers, expected) => {
  expect(headerOf(headers as HeadersLike, 'cache-control')).toBe(expected);
});
