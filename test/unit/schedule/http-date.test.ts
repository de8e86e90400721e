import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate } from '../../../src/schedule/http-date.ts';

const NOW = Date.UTC(2026, 0, 1);

describe('parseHttpDate', () => {
  it.each(['SUN, 06 NOV 1994 08:49:37 gmt', 'sunday, 06-nov-94 08:49:37 Gmt', 'sun nov  6 08:49:37 1994'])(
    'takes it in any case: %s',
    (text) => {
      expect(parseHttpDate(text, NOW)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    },
  );

  it.each(['Sun, 06 Anf 1994 08:49:37 GMT', 'Sun, 06 bma 1994 08:49:37 GMT', 'Sun, 06 Ja 1994 08:49:37 GMT'])(
    'takes no part of a month for one: %s',
    (text) => {
      expect(parseHttpDate(text, NOW)).toBe(undefined);
    },
  );

  it('takes every instant as toUTCString writes it', () => {
    const seconds = fc.integer({ min: Date.UTC(1970, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        expect(parseHttpDate(new Date(second * 1000).toUTCString(), NOW)).toBe(second * 1000);
      }),
    );
  });

  it('places a year of two digits at most 50 years ahead', () => {
    const year = (digits: string): number =>
      new Date(parseHttpDate(`Sunday, 06-Nov-${digits} 08:49:37 GMT`, NOW)!).getUTCFullYear();
    expect([year('26'), year('76'), year('77'), year('99'), year('00')]).toEqual([
      2026, 2076, 1977, 1999, 2000,
    ]);
  });

  it('takes a leap second', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW)).toBe(Date.UTC(2017, 0, 1));
  });

  it.each([
    undefined,
    '9999',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, ٠٦ Nov 1994 08:49:37 GMT',
  ])('does not take %o', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined();
  });
});
