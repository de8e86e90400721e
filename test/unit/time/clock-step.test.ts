import { expect, it } from 'vitest';
import { clockStep } from '../../../src/time/clock-step.ts';

it.each([
  [0, 0],
  [1000, 0],
  [-1000, 0],
  [1000.4, 0],
  [1000.6, 1001],
  [-1001, -1001],
  [5000.2, 5000],
])('a move of %s ms against the monotonic clock is a step of %s ms', (moved, step) => {
  expect(clockStep(50, 50 + moved)).toBe(step);
});
