import { expect, it } from 'vitest';
import { showShare } from '../../../src/observe/show-share.ts';

it.each([
  [0, '0 %'],
  [0.965_51, '97 %'],
  [0.98, '98 %'],
  [0.99, '99 %'],
  [0.999, '99.9 %'],
  [0.998_999, '99.899 %'],
  [0.999_999_9, '99.999 %'],
  [1, '100 %'],
])('a share of %d is %s', (share, text) => {
  expect(showShare(share)).toBe(text);
});
