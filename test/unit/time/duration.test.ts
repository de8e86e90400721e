import { Duration } from 'luxon';
import { expect, it } from 'vitest';
import { toMillis } from '../../../src/time/duration.ts';

it('adds up units', () => {
  expect(toMillis({ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 })).toBe(90_061_001);
  expect(toMillis({ minutes: 0.5, hours: undefined } as never)).toBe(30_000);
  expect(toMillis(Duration.fromISO('PT1H30M'))).toBe(5_400_000);
  expect(toMillis(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});

it('reads texts: numbers with units, added up', () => {
  const read = {
    '10m': 600_000,
    '1h30m': 5_400_000,
    ' 1h 30m ': 5_400_000,
    '1.5 hours': 5_400_000,
    '2D': 172_800_000,
    '250ms': 250,
    '1w1s': 604_801_000,
    '0s': 0,
    '1h0m': 3_600_000,
  };
  for (const [text, ms] of Object.entries(read)) expect([text, toMillis(text)]).toEqual([text, ms]);
});

it('is NaN for anything but a duration', () => {
  const nonsense: unknown[] = [
    {},
    [],
    null,
    undefined,
    ...[
      '5',
      '',
      ' ',
      'm',
      '10 parsecs',
      '1h 5 parsecs',
      '1,5h',
      '-5m',
      '1h5',
      '1e3ms',
      '1.5.2h',
      'h1',
      '*/5 * * * *',
    ],
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
