import { describe, expect, it } from 'vitest';
import { deltaSeconds, parseCacheControl } from '../../../src/schedule/cache-control.ts';

const parsed = (header: string | undefined): Record<string, string> =>
  Object.fromEntries(parseCacheControl(header));

it.each<[string | undefined, Record<string, string>]>([
  [undefined, {}],
  ['', {}],
  ['max-age=60', { 'max-age': '60' }],
  ['Max-Age=60, PUBLIC', { 'max-age': '60', public: '' }],
  ['max-age="60"', { 'max-age': '60' }],
  [', ,max-age=60 ,,', { 'max-age': '60' }],
  ['max-age=60, max-age=5', { 'max-age': '60' }],
  ['no-cache="a, max-age=5", max-age=60', { 'no-cache': 'a, max-age=5', 'max-age': '60' }],
  ['x="a\\"b, no-store", max-age=60', { x: 'a"b, no-store', 'max-age': '60' }],
  ['x="open, no-store, max-age=60', { x: '"open', 'no-store': '', 'max-age': '60' }],
  ['x="a, no-store", y="open, max-age=60', { x: 'a, no-store', y: '"open', 'max-age': '60' }],
  ['max-age=60, x="y"', { 'max-age': '60', x: 'y' }],
  ['max-age=60"', { 'max-age': '60"' }],
  ['x="a\\', { x: '"a\\' }],
  ['x="', { x: '"' }],
  ['max-age = 60', { 'max-age': ' 60' }],
  ['max-age=6=0', { 'max-age': '6=0' }],
  ['=5', {}],
  ['__proto__=1, constructor', { ['__proto__']: '1', constructor: '' }],
])('parseCacheControl reads %o', (header, expected) => {
  expect(parsed(header)).toEqual(expected);
});

describe('deltaSeconds', () => {
  it.each([
    ['0', 0],
    ['60', 60],
    ['0060', 60],
    ['2147483647', 2_147_483_647],
    ['2147483648', 2 ** 31],
    ['99999999999', 2 ** 31],
    ['9'.repeat(5000), 2 ** 31],
  ])('takes %s', (text, seconds) => {
    expect(deltaSeconds(text)).toBe(seconds);
  });

  it.each(['', '-1', '+1', '1.5', ' 60', '60s', '1e3', '0x10', 'Infinity', '٦٠', '60\n', undefined])(
    'does not take %o',
    (text) => {
      expect(deltaSeconds(text)).toBeUndefined();
    },
  );
});
