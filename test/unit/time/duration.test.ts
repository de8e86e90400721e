import { Duration } from 'luxon';
import { expect, it } from 'vitest';
import { toMillis } from '../../../src/time/duration.ts';

it('adds up units', () => {
  expect(toMillis({ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 })).toBe(90_061_001);
  expect(toMillis({ minutes: 0.5 })).toBe(30_000);
  expect(toMillis(Duration.fromISO('PT1H30M'))).toBe(5_400_000);
  expect(toMillis(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});

it('is NaN for anything but a duration', () => {
  const nonsense: unknown[] = [
    {},
    [],
    null,
    undefined,
    '5',
    true,
    { weeks: 1 },
    { minutes: '5' },
    { minutes: 1, weeks: 1 },
    { hasOwnProperty: 1 },
    { toString: 1 },
    { toMillis: 5 },
    { toMillis: () => '5' },
    {
      toMillis: () => {
        throw new Error('x');
      },
    },
    Duration.invalid('no'),
  ];
  for (const thing of nonsense) expect(toMillis(thing as never)).toBeNaN();
});
