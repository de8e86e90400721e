import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/engine/retry-after.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { expectUnpolluted, hostileValue } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { runs } from './support/runs.ts';

// Retry-After of a source: from 0 to a day, whatever its text.

afterEach(expectUnpolluted);

const NOW = Date.UTC(2026, 10, 20, 12);
const DAY = 86_400_000;

const told = fc.oneof(
  hostileValue,
  fc.constantFrom(
    '120',
    '0',
    '-5',
    '1.5',
    ' 7 ',
    '1e9',
    '9'.repeat(400),
    '0x10',
    '5, 10',
    'soon',
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ),
  mutation.map((mutate) => mutate('Fri, 20 Nov 2026 13:00:00 GMT', '120')),
);

const error = fc.tuple(told, fc.nat(6)).map(([value, shape]): unknown => {
  const shapes: readonly (() => unknown)[] = [
    () => Object.assign(new Error('x'), { retryAfter: value }),
    () => ({ headers: { 'retry-after': value } }),
    () => ({ response: { headers: { get: () => value } } }),
    () => new Error('outer', { cause: { response: { headers: { 'Retry-After': value } } } }),
    () => value,
    () => ({ code: 'COOLING_DOWN', member: 'v', retryAt: value }),
    () => {
      const ring: { cause?: unknown; headers: unknown } = { headers: value };
      ring.cause = ring;
      return ring;
    },
  ];
  return shapes[shape]?.();
});

describe('Retry-After of a source', () => {
  it('is never less than nothing, and never more than a day', () => {
    fc.assert(
      fc.property(error, (given) => {
        const ms = retryAfterMs(given, NOW);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(DAY);
      }),
      runs(2000),
    );
  });

  it('lets a value recover within a day', async () => {
    await fc.assert(
      fc.asyncProperty(error, async (given) => {
        const clock = new FakeClock({ now: NOW });
        let isDown = true;
        const load = async (): Promise<string> => {
          if (isDown) throw given;
          return 'up';
        };
        const { value } = fakeValue<string>(load, { clock });
        await expect(value.get()).rejects.toMatchObject({ code: 'LOAD_FAILED' });
        isDown = false;
        await clock.advance(DAY + 1);
        expect(await value.get()).toBe('up');
      }),
      runs(300),
    );
  });
});
