import { expect, it } from 'vitest';
import { showDuration } from '../../../src/time/show-duration.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it.each([
  [0, '0 ms'],
  [0.2, '1 ms'],
  [850, '850 ms'],
  [999.5, '1 s'],
  [SECOND, '1 s'],
  [1540, '1.5 s'],
  [9960, '10 s'],
  [10_400, '10 s'],
  [59_700, '1 min'],
  [MINUTE + 1400, '1 min 1 s'],
  [4 * MINUTE + 12 * SECOND, '4 min 12 s'],
  [6 * HOUR, '6 h'],
  [6 * HOUR + 29_000, '6 h'],
  [HOUR - SECOND, '59 min 59 s'],
  [2 * HOUR - SECOND, '2 h'],
  [DAY - SECOND, '1 d'],
  [2 * DAY + 3 * HOUR, '2 d 3 h'],
  [400 * DAY, '400 d'],
  [Infinity, 'ever'],
  [Number.NaN, 'NaN ms'],
  [-5, '-5 ms'],
])('%d ms is shown as %s', (ms, shown) => expect(showDuration(ms)).toBe(shown));
