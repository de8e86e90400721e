import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/engine/retry-after.ts';

const now = Date.UTC(2026, 10, 20, 12);

/** An error with so many causes behind it, of which the last says for how long. */
const caused = (depth: number): object =>
  depth === 0 ? { retryAfter: 2 } : new Error('x', { cause: caused(depth - 1) });

describe('retryAfterMs', () => {
  for (const [name, error, ms] of [
    [
      'a Headers object of the response',
      { response: { headers: new Headers({ 'Retry-After': '5' }) } },
      5000,
    ],
    ['plain lower-case headers', { response: { headers: { 'retry-after': '5' } } }, 5000],
    ['plain headers as sent', { headers: { 'Retry-After': '5' } }, 5000],
    ['a property in seconds', { retryAfter: 1.5 }, 1500],
    ['a property in seconds, as text', { retryAfter: ' 1.25 ' }, 1250],
    ['a date, to the millisecond', { retryAfter: new Date(now + 5250) }, 5250],
    ['an ISO date', { headers: { 'retry-after': '2026-11-20T12:00:30+00:00' } }, 30_000],
    ['an HTTP date', { headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' } }, 30_000],
    ['the cause', new Error('x', { cause: new Error('y', { cause: { retryAfter: 2 } }) }), 2000],
    [
      'the cause of what says nothing',
      { retryAfter: null, headers: null, response: { headers: new Headers() }, cause: { retryAfter: 2 } },
      2000,
    ],
    ['the eighth of a row of causes', caused(7), 2000],
    ['no further than that, as nothing', caused(8), 0],
    ['more than a day, as a day', { retryAfter: 1e12 }, 86_400_000],
    ['the past, as nothing', { retryAfter: new Date(now - 1) }, 0],
    ['nonsense, as nothing', { headers: { 'retry-after': 'soon' } }, 0],
    ['an empty header, as nothing', { headers: { 'retry-after': '' } }, 0],
    ['no header, as nothing', { response: { headers: new Headers() } }, 0],
    [
      'a getter that throws, as nothing',
      Object.defineProperty({}, 'retryAfter', { get: () => JSON.parse('{') }),
      0,
    ],
    ['no object at all, as nothing', 'busy', 0],
  ] as const) {
    it(`reads ${name}`, () => {
      expect(retryAfterMs(error, now)).toBe(ms);
    });
  }

  it('never throws, and is always between nothing and a day', () => {
    const cyclic: { cause?: unknown } = {};
    cyclic.cause = cyclic;
    expect(retryAfterMs(cyclic, now)).toBe(0);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ retryAfter: fc.anything() }),
          fc.record({ headers: fc.anything() }),
        ),
        (error) => {
          const ms = retryAfterMs(error, now);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(86_400_000);
        },
      ),
    );
  });
});
