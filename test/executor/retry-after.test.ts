import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../src/executor/retry-after.ts';

const now = Date.UTC(2026, 10, 20, 12);

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
    ['a date', { retryAfter: new Date(now + 5000) }, 5000],
    ['an HTTP date', { headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' } }, 30_000],
    ['the cause', new Error('x', { cause: new Error('y', { cause: { retryAfter: 2 } }) }), 2000],
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
