import { expect, it } from 'vitest';
import { errorSayer } from '../../../src/console/said.ts';

const failing = {
  kind: 'failing' as const,
  isFatal: false,
  message: 'failed 3 times in a row: load failed: no route: socket hang up',
  cause: 'no route: socket hang up',
};
const full = 'prices: load failed: no route: socket hang up';

it('says an error in full once: where the problems have it, every other place points to the top', () => {
  const say = errorSayer('prices', [failing], full);
  expect([full, 'load failed: no route: socket hang up', 'no route: socket hang up'].map(say)).toEqual(
    Array(3).fill('as at the top'),
  );
  expect(['no route', 'socket hang up', 'prices: load failed: another'].map(say)).toEqual([
    'no route',
    'socket hang up',
    'prices: load failed: another',
  ]);
});

it('points to the last error where no problem has it, also that of a key', () => {
  const say = errorSayer('customers', [], 'customers["6"]: load failed: 500');
  expect(['500', 'customers["6"]: load failed: 500', '501'].map(say)).toEqual([
    'the last error',
    'the last error',
    '501',
  ]);
});
