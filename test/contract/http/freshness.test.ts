import { describe, expect, it } from 'vitest';
import { loaded, RefreshingValue } from '../../../src/index.ts';
import { type HttpFreshnessOptions, httpFreshness } from '../../../src/schedule/http-freshness.ts';
import { FakeClock } from '../../../src/testing/index.ts';

// How long a response is fresh, by the facts that suites for HTTP caches check: RFC 9111 §4.2 (lifetime, age, heuristics), RFC 9110
// §5.6.7 (dates), RFC 5861 (grants).

const NOW = new FakeClock().now();
const DAY = 86_400;
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString();

type Fields = Readonly<Record<string, string>>;
/** `fallback`: no information, so 300 s. `stale`: due after `atLeast`, so 1 s. */
type Due = number | 'fallback' | 'stale';

async function dueAfter(fields: Fields, options?: HttpFreshnessOptions): Promise<number> {
  const clock = new FakeClock();
  const value = new RefreshingValue({
    name: 'response',
    load: () => loaded(1, { headers: new Headers(fields) }),
    schedule: httpFreshness(options),
    clock,
  });
  await value.get();
  return ((value.inspect().nextExecuteTime as number) - clock.now()) / 1000;
}

const secondsOf = (due: Due): number => (due === 'fallback' ? 300 : due === 'stale' ? 1 : due);
const expires = (text: string): Fields => ({ expires: text, date: at(0) });
const modified = (text: string): Fields => ({ 'last-modified': text, date: at(0) });
const cacheControl = (text: string): Fields => ({ 'cache-control': text });

describe.each<[string, [what: string, fields: Fields, due: Due][]]>([
  [
    'Cache-Control',
    [
      ['max-age', cacheControl('max-age=3600'), 3600],
      ['in capitals', cacheControl('MAX-AGE=3600'), 3600],
      ['quoted', cacheControl('max-age="3600"'), 3600],
      ['in single quotes', cacheControl("max-age='3600'"), 'stale'],
      ['leading zeros', cacheControl('max-age=003600'), 3600],
      ['after an extension', cacheControl('foobar, max-age=3600'), 3600],
      ['after an extension with a quoted comma', cacheControl('foo="a, max-age=1", max-age=3600'), 3600],
      ['a longer name', cacheControl('s-max-age=3600, x-max-age=3600'), 'fallback'],
      ['the first of two', cacheControl('max-age=1800, max-age=3600'), 1800],
      ['without blanks', cacheControl('private,max-age=3600'), 3600],
      ['empty members', cacheControl(',,max-age=3600,'), 3600],
      ['zero', cacheControl('max-age=0'), 'stale'],
      ['negative', cacheControl('max-age=-3600'), 'stale'],
      ['a fraction', cacheControl('max-age=3600.5'), 'stale'],
      ['a letter behind', cacheControl('max-age=3600a'), 'stale'],
      ['a blank behind the sign', cacheControl('max-age= 3600'), 'stale'],
      ['more than 2³¹', cacheControl('max-age=4294967296'), 2 ** 31],
      ['no-cache', cacheControl('no-cache, max-age=3600'), 'stale'],
      ['no-store', cacheControl('max-age=3600, no-store'), 'stale'],
      ['private', cacheControl('private, max-age=3600'), 3600],
      ['s-maxage alone', cacheControl('s-maxage=3600'), 'fallback'],
      ['before Expires', { ...cacheControl('max-age=3600'), ...expires(at(-10)) }, 3600],
      ['an invalid one before Expires', { ...cacheControl('max-age=a'), ...expires(at(3600)) }, 'stale'],
      ['whatever Date is', { ...cacheControl('max-age=3600'), date: at(-DAY) }, 3600],
    ],
  ],
  [
    'Age',
    [
      ['is deducted', { ...cacheControl('max-age=3600'), age: '600' }, 3000],
      ['is all of it', { ...cacheControl('max-age=3600'), age: '3600' }, 'stale'],
      ['is more', { ...cacheControl('max-age=3600'), age: '7200' }, 'stale'],
      ['of 2³¹', { ...cacheControl('max-age=3600'), age: '2147483648' }, 'stale'],
      ['the first of two', { ...cacheControl('max-age=3600'), age: '0, 7200' }, 3600],
      ['of Expires', { ...expires(at(3600)), age: '600' }, 3000],
      ['of a guess', { ...modified(at(-36_000)), age: '600' }, 3000],
      ['negative', { ...cacheControl('max-age=3600'), age: '-7200' }, 3600],
      ['a fraction', { ...cacheControl('max-age=3600'), age: '7200.0' }, 3600],
      ['with a letter', { ...cacheControl('max-age=3600'), age: '7200a' }, 3600],
      ['with a parameter', { ...cacheControl('max-age=3600'), age: '7200;foo=1' }, 3600],
    ],
  ],
  [
    'Expires',
    [
      ['in the future', expires(at(3600)), 3600],
      ['now', expires(at(0)), 'stale'],
      ['in the past', expires(at(-3600)), 'stale'],
      ['by the Date of a server that is behind', { expires: at(-3600), date: at(-7200) }, 3600],
      ['by the Date of a server that is ahead', { expires: at(7200), date: at(3600) }, 3600],
      ['without Date', { expires: at(3600) }, 3600],
      ['0', expires('0'), 'stale'],
      ['-1', expires('-1'), 'stale'],
      ['empty', { expires: '', date: at(0), 'last-modified': at(-DAY) }, 'stale'],
      ['of RFC 850', expires('Thursday, 01-Jan-26 01:00:00 GMT'), 3600],
      ['of asctime', expires('Thu Jan  1 01:00:00 2026'), 3600],
      ['in capitals', expires('THU, 01 JAN 2026 01:00:00 GMT'), 3600],
      ['in small letters', expires('thu, 01 jan 2026 01:00:00 gmt'), 3600],
      ['with another day of the week', expires('Fri, 01 Jan 2026 01:00:00 GMT'), 3600],
      ['of another zone', expires('Thu, 01 Jan 2026 02:00:00 AEST'), 'stale'],
      ['of UTC', expires('Thu, 01 Jan 2026 01:00:00 UTC'), 'stale'],
      ['with an offset', expires('Thu, 01 Jan 2026 01:00:00 +0000'), 'stale'],
      ['without a zone', expires('Thu, 01 Jan 2026 01:00:00'), 'stale'],
      ['with a year of two digits', expires('Thu, 01 Jan 26 01:00:00 GMT'), 'stale'],
      ['with an hour of one digit', expires('Thu, 01 Jan 2026 1:00:00 GMT'), 'stale'],
      ['with a day of one digit', expires('Thu, 1 Jan 2026 01:00:00 GMT'), 'stale'],
      ['with dashes', expires('Thu, 01-Jan-2026 01:00:00 GMT'), 'stale'],
      ['with dots', expires('Thu, 01 Jan 2026 01.00.00 GMT'), 'stale'],
      ['without a comma', expires('Thu 01 Jan 2026 01:00:00 GMT'), 'stale'],
      ['with two blanks', expires('Thu, 01  Jan 2026 01:00:00 GMT'), 'stale'],
      ['with the month in full', expires('Thu, 01 January 2026 01:00:00 GMT'), 'stale'],
      ['of ISO 8601', expires('2026-01-01T01:00:00Z'), 'stale'],
      ['a number of seconds', expires('1767229200'), 'stale'],
      ['31 February', expires('Sat, 31 Feb 2026 01:00:00 GMT'), 'stale'],
    ],
  ],
  [
    'Last-Modified',
    [
      ['a tenth', modified(at(-36_000)), 3600],
      ['a day at most', modified(at(-100 * DAY)), DAY],
      ['without Date', { 'last-modified': at(-36_000) }, 3600],
      [
        'by the Date of a server that is behind',
        { 'last-modified': at(-DAY - 36_000), date: at(-DAY) },
        3600,
      ],
      ['of asctime', modified('Wed Dec 31 14:00:00 2025'), 3600],
      ['of RFC 850', modified('Wednesday, 31-Dec-25 14:00:00 GMT'), 3600],
      ['now', modified(at(0)), 'fallback'],
      ['after Date', modified(at(1)), 'fallback'],
      ['after Date, before now', { 'last-modified': at(-10), date: at(-20) }, 'fallback'],
      ['invalid', modified('2025-12-31'), 'fallback'],
      ['the epoch', modified('Thu, 01 Jan 1970 00:00:00 GMT'), 'fallback'],
      ['the epoch of zip', modified('Tue, 01 Jan 1980 00:00:00 GMT'), 'fallback'],
      ['beside public', { ...modified(at(-36_000)), ...cacheControl('public') }, 3600],
      ['beside Expires', { ...modified(at(-36_000)), expires: at(60) }, 60],
      ['beside an invalid Expires', { ...modified(at(-36_000)), expires: '0' }, 'stale'],
      ['beside no-cache', { ...modified(at(-36_000)), ...cacheControl('no-cache') }, 'stale'],
    ],
  ],
  [
    'other fields',
    [
      ['none', {}, 'fallback'],
      ['Date alone', { date: at(-DAY) }, 'fallback'],
      ['Pragma is of requests', { pragma: 'no-cache', ...cacheControl('max-age=3600') }, 3600],
      ['ETag alone', { etag: '"1"' }, 'fallback'],
      ['Vary', { vary: '*', ...cacheControl('max-age=3600') }, 3600],
    ],
  ],
])('%s', (_, rows) => {
  it.each(rows)('%s', async (_what, fields, due) => {
    expect(await dueAfter(fields)).toBe(secondsOf(due));
  });
});

it.each<[string, Fields, Due]>([
  ['s-maxage', cacheControl('s-maxage=3600'), 3600],
  ['s-maxage before max-age', cacheControl('max-age=60, s-maxage=3600'), 3600],
  ['the same the other way round', cacheControl('s-maxage=3600, max-age=60'), 3600],
  ['s-maxage before Expires', { ...cacheControl('s-maxage=3600'), ...expires(at(60)) }, 3600],
  ['an invalid s-maxage', cacheControl('max-age=60, s-maxage=a'), 'stale'],
  ['s-maxage less Age', { ...cacheControl('s-maxage=3600'), age: '600' }, 3000],
])('a shared cache: %s', async (_, fields, due) => {
  expect(await dueAfter(fields, { shared: true })).toBe(secondsOf(due));
});
