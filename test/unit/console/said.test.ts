import { expect, it } from 'vitest';
import type { MemberRow } from '../../../src/console/rows.ts';
import { errorSayer } from '../../../src/console/said.ts';

const problem = {
  kind: 'failing' as const,
  isFatal: false,
  message: 'failed 3 times in a row: load failed: no route: socket hang up',
  cause: 'no route: socket hang up',
};
const row = (problems: MemberRow['problems']): MemberRow => {
  return {
    id: 'x',
    name: 'prices',
    kind: 'value',
    level: 'warn',
    problems,
    here: { state: 'stale' },
    cells: [],
  };
};
const full = 'prices: load failed: no route: socket hang up';

it('says an error in full once: where the problems have it, every other place points to the top', () => {
  const say = errorSayer('prices', row([problem]), full);
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
  const say = errorSayer('customers', undefined, 'customers["6"]: load failed: 500');
  expect(['500', 'customers["6"]: load failed: 500', '501'].map(say)).toEqual([
    'the last error',
    'the last error',
    '501',
  ]);
});

it('knows an error that begins with the name of its member', () => {
  const say = errorSayer('prices', row([{ ...problem, cause: 'prices: no such host' }]), undefined);
  expect(['prices: load failed: prices: no such host', 'prices: no such host'].map(say)).toEqual(
    Array(2).fill('as at the top'),
  );
});

it('says an outage of a backend once, whatever step has met it', () => {
  const cause =
    'the backend is unavailable: no answer within 1 s (acquire), the client reports: ECONNREFUSED';
  const say = errorSayer('prices', row([{ ...problem, kind: 'backend-down', cause }]), undefined);
  expect(
    say(
      'prices: the backend is unavailable: no answer within 2 s (versions), the client reports: ECONNREFUSED',
    ),
  ).toBe('no answer, as at the top');
  expect(say('the backend is unavailable: another reason')).toBe(
    'the backend is unavailable: another reason',
  );
});
