import { expect, it } from 'vitest';
import { isInstant, showInstant } from '../../../src/time/show-instant.ts';

it('shows an instant as a date of UTC', () => {
  expect(showInstant(Date.UTC(2026, 10, 28, 23))).toBe('2026-11-28T23:00:00.000Z');
});

it.each([8.64e15 + 1, 1e300, Infinity])('shows the last date for %d', (instant) => {
  expect([isInstant(instant), showInstant(instant)]).toEqual([false, '+275760-09-13T00:00:00.000Z']);
});

it.each([-8.64e15 - 1, -1e300, -Infinity])('shows the first date for %d', (instant) => {
  expect([isInstant(instant), showInstant(instant)]).toEqual([false, '-271821-04-20T00:00:00.000Z']);
});
