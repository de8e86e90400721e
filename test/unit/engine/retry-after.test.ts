import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/engine/retry-after.ts';
import { TicklessError } from '../../../src/errors.ts';

const now = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;
const httpDate = (instant: number): string => new Date(instant).toUTCString();

/** Texts that `Date.parse` or `Number` would take. All would be in the future. */
const MALFORMED = [
  '-3',
  '+3',
  '1e3',
  '0x10',
  '"120"',
  '120s',
  '120 60',
  '5;q=1',
  'Infinity',
  'December 2030',
  '2030-01-01',
  '2030-01-01T00:00:00',
  '1/1/2030',
  '20 Nov 2026 12:00:30',
  'Fri, 20 Nov 2026 12:00:30',
  'Fri, 20 Nov 2026 12:00:30 EST',
  'Fri, 20 Nov 2026 12:00:30 +0000',
  'Fri, 31 Feb 2027 12:00:30 GMT',
  'Fri, 20 Nov 2026 25:00:30 GMT',
];

/** An error with `depth` causes in a row, of which the last has a time. */
const caused = (depth: number): object =>
  depth === 0 ? { retryAfter: 2 } : new Error('x', { cause: caused(depth - 1) });

describe('retryAfterMs', () => {
  it.each<[what: string, error: unknown, ms: number]>([
    [
      'a Headers object of the response',
      { response: { headers: new Headers({ 'Retry-After': '5' }) } },
      5000,
    ],
    ['plain lower-case headers of the response', { response: { headers: { 'retry-after': '5' } } }, 5000],
    ['plain headers as sent', { headers: { 'Retry-After': '5' } }, 5000],
    ['a property in seconds', { retryAfter: 1.5 }, 1500],
    [
      'the end of the cool-down of another member',
      new TicklessError('COOLING_DOWN', 'later', { member: 'v', retryAt: now + 700 }),
      700,
    ],
    ['a property in seconds, as text', { retryAfter: ' 1.25 ' }, 1250],
    ['a date, to the millisecond', { retryAfter: new Date(now + 5250) }, 5250],
    ['an ISO date', { headers: { 'retry-after': '2026-11-20T12:00:30+00:00' } }, 30_000],
    ['an HTTP date', { headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' } }, 30_000],
    [
      'the cause of an error without it',
      { retryAfter: null, headers: null, response: { headers: new Headers() }, cause: { retryAfter: 2 } },
      2000,
    ],
    ['the eighth error in a row of causes', caused(7), 2000],
    ['the ninth, as 0', caused(8), 0],
    ['more than a day, as a day', { retryAfter: 1e12 }, 86_400_000],
    ['the past, as 0', { retryAfter: new Date(now - 1) }, 0],
    ['the first of two numbers', { headers: { 'retry-after': '120, 60' } }, 120_000],
    ['the first of two lines', { headers: { 'Retry-After': ['120', '60'] } }, 120_000],
    [
      'the first of two dates',
      { headers: { 'retry-after': `${httpDate(now + 30_000)}, ${httpDate(now + 60_000)}` } },
      30_000,
    ],
    ['a number before a date', { headers: { 'retry-after': `9, ${httpDate(now + 60_000)}` } }, 9000],
    ['a date before a number', { headers: { 'retry-after': `${httpDate(now + 60_000)}, 9` } }, 60_000],
    ['a date of RFC 850', { headers: { 'retry-after': 'Friday, 20-Nov-26 12:00:30 GMT' } }, 30_000],
    ['a date of asctime', { headers: { 'retry-after': 'Fri Nov 20 12:00:30 2026' } }, 30_000],
    ['a date in any case', { headers: { 'retry-after': 'FRI, 20 NOV 2026 12:00:30 gmt' } }, 30_000],
    [
      'a date by the Date of a server that is behind',
      { headers: { 'retry-after': httpDate(now - HOUR + 120_000), date: httpDate(now - HOUR) } },
      120_000,
    ],
    [
      'a date by the Date of a server that is ahead',
      {
        response: {
          headers: new Headers({ 'Retry-After': httpDate(now + HOUR + 120_000), Date: httpDate(now + HOUR) }),
        },
      },
      120_000,
    ],
    [
      'a date that a cache has kept',
      { headers: { 'retry-after': httpDate(now + 120_000), date: httpDate(now), age: '20' } },
      100_000,
    ],
    [
      'a date beside a Date that is none',
      { headers: { 'retry-after': httpDate(now + 120_000), date: 'today' } },
      120_000,
    ],
    [
      'seconds whatever the Date is',
      { headers: { 'retry-after': '120', date: httpDate(now - HOUR) } },
      120_000,
    ],
    [
      'an instant of X- by the Date of the server',
      { headers: { 'x-ratelimit-reset': `${(now - HOUR) / 1000 + 600}`, date: httpDate(now - HOUR) } },
      600_000,
    ],
    [
      'a text of the property as that of the header',
      { retryAfter: httpDate(now - HOUR + 120_000), headers: { date: httpDate(now - HOUR) } },
      120_000,
    ],
    [
      'an instant of the property by the clock here',
      { retryAfter: new Date(now + 120_000), headers: { date: httpDate(now - HOUR) } },
      120_000,
    ],
    [
      'a malformed Retry-After as none, beside a quota',
      { headers: { 'retry-after': 'soon', 'x-ratelimit-reset': '600' } },
      600_000,
    ],
    [
      'a malformed property as none, beside a header',
      { retryAfter: 'soon', headers: { 'retry-after': '5' } },
      5000,
    ],
    ['an invalid Date as none', { retryAfter: new Date(Number.NaN), headers: { 'retry-after': '5' } }, 5000],
    ['a malformed one as none, before its cause', { retryAfter: '', cause: { retryAfter: 5 } }, 5000],
    ['an HTTP date of X-', { headers: { 'x-ratelimit-reset': httpDate(now + 600_000) } }, 600_000],
    [
      'the first of two of X-',
      { headers: { 'x-ratelimit-remaining': '0, 0', 'x-ratelimit-reset': '600, 9' } },
      600_000,
    ],
    ['another text, as 0', { headers: { 'retry-after': 'soon' } }, 0],
    ['an empty header, as 0', { headers: { 'retry-after': '' } }, 0],
    [
      'a getter that throws, as 0',
      Object.defineProperty({}, 'retryAfter', { get: () => JSON.parse('{') }),
      0,
    ],
    ['a text instead of an error, as 0', 'busy', 0],
    ['the quota of the draft', { status: 429, headers: { RateLimit: '"default";r=0;t=600' } }, 600_000],
    ['the quota of the draft before', { headers: { ratelimit: 'limit=9, remaining=0, reset=600' } }, 600_000],
    [
      'the one of several quotas that lasts',
      { headers: { ratelimit: '"a";r=0;t=9, "b";r=0;t=600, "c";r=5;t=7000' } },
      600_000,
    ],
    [
      'a quota without what remains',
      { response: { status: 429, headers: new Headers({ RateLimit: '"a";t=600' }) } },
      600_000,
    ],
    [
      'the first pairs of the draft',
      { headers: { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '600' } },
      600_000,
    ],
    ['seconds of X-', { statusCode: 429, headers: { 'X-RateLimit-Reset': '600' } }, 600_000],
    [
      'epoch seconds of X-',
      { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now / 1000 + 600}` } },
      600_000,
    ],
    ['epoch milliseconds of X-', { headers: { 'x-rate-limit-reset': now + 600_000 } }, 600_000],
    ['an instant of X-', { headers: { 'x-ratelimit-reset': '2026-11-20T12:10:00Z' } }, 600_000],
    [
      'seconds after of X-',
      { headers: { 'x-ratelimit-reset': '99', 'x-ratelimit-reset-after': '600.5' } },
      600_500,
    ],
    ['Retry-After before a quota', { headers: { 'retry-after': '5', 'x-ratelimit-reset': '600' } }, 5000],
    [
      'calls that remain, as 0',
      { status: 429, headers: { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '600' } },
      0,
    ],
    ['a failure of another kind, as 0', { status: 500, headers: { 'x-ratelimit-reset': '600' } }, 0],
    [
      'a quota that is full again, as 0',
      { status: 429, headers: { 'x-ratelimit-reset': `${now / 1000 - 5}` } },
      0,
    ],
    [
      'a quota that is no number, as 0',
      { headers: { ratelimit: '"a";r=0;t=x', 'x-ratelimit-reset': '' } },
      0,
    ],
    ...MALFORMED.flatMap((text): [string, unknown, number][] => [
      [`Retry-After: ${text}, as 0`, { headers: { 'retry-after': text } }, 0],
      [`X-RateLimit-Reset: ${text}, as 0`, { headers: { 'x-ratelimit-reset': text } }, 0],
      [`X-RateLimit-Reset-After: ${text}, as 0`, { headers: { 'x-ratelimit-reset-after': text } }, 0],
    ]),
    ['a malformed time of the draft, as 0', { headers: { ratelimit: '"a";r=0;t=6e3, "b";r=0;t=1.5' } }, 0],
  ])('reads %s', (_, error, ms) => expect(retryAfterMs(error, now)).toBe(ms));

  it('reads all of them alike in any zone', () => {
    const { TZ } = process.env;
    const dates = [
      'Fri, 20 Nov 2026 12:00:30 GMT',
      'Friday, 20-Nov-26 12:00:30 GMT',
      'Fri Nov 20 12:00:30 2026',
      '2026-11-20T12:00:30Z',
    ];
    try {
      process.env.TZ = 'America/New_York';
      expect(new Date(now).getHours()).toBe(7);
      for (const date of dates) {
        expect(retryAfterMs({ headers: { 'retry-after': date } }, now)).toBe(30_000);
        expect(retryAfterMs({ headers: { 'x-ratelimit-reset': date } }, now)).toBe(30_000);
        expect(retryAfterMs({ retryAfter: date }, now)).toBe(30_000);
      }
      for (const text of MALFORMED) expect(retryAfterMs({ headers: { 'retry-after': text } }, now)).toBe(0);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });
});
