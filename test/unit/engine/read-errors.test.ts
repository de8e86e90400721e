import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import {
  absentError,
  closedError,
  coolingDownError,
  notLoadedError,
  readError,
} from '../../../src/engine/read-errors.ts';
import { systemClock } from '../../../src/time/clock.ts';

const NOW = 10_000;
const WALL = 1_700_000_000_000;
const clock = { ...systemClock, now: () => WALL, monotonic: () => NOW };
const rates = { name: 'rates', clock };
const down = new Error('down');

function entryWith(change: Partial<Entry<unknown>>): Entry<unknown> {
  return Object.assign(new Entry<unknown>('NL'), change);
}

const cold = entryWith({ coolDownUntil: NOW + 250.5, lastError: down });
const old = entryWith({ isLoaded: true, loadedAt: NOW - 5000, maxStalenessMs: 4000, lastError: down });
const absent = entryWith({ coolDownUntil: NOW + 70, lastError: absentError(entryWith({}), rates) });

const tooOld = {
  code: 'TOO_STALE',
  age: 5000,
  message: /rates.*NL.*the value is 5 s old, maxStaleness is 4 s: down$/,
};
const coolingDown = {
  code: 'COOLING_DOWN',
  retryAt: WALL + 251,
  message: /cooling down for 251 ms after: down$/,
};

describe('readError', () => {
  it.each([
    ['a value that is too old', old, 'open', tooOld],
    ['a value that is too old, closed', old, 'closed', tooOld],
    ['a cool-down', cold, 'open', coolingDown],
    ['a cool-down, paused', cold, 'paused', { code: 'NOT_LOADED', message: /paused.*never loaded/ }],
    ['a cool-down, closed', cold, 'closed', { code: 'CLOSED', message: /closed.*never loaded/ }],
  ] as const)('of %s', (_, entry, runState, { message, ...error }) => {
    const made = readError(entry, { runState, whenFailing: 'serve' }, rates);
    expect(made).toMatchObject({ member: 'rates', key: 'NL', cause: down, ...error });
    expect(made.message).toMatch(message);
  });

  it.each(['open', 'closed'] as const)('of an absent key, %s', (runState) => {
    const made = readError(absent, { runState, whenFailing: 'serve' }, rates);
    expect(made).toMatchObject({ code: 'ABSENT', retryAt: WALL + 70, key: 'NL' });
    expect(made.message).toMatch(/the source does not have this key/);
  });
});

it('retryAt is never in the past', () => {
  const over = entryWith({ coolDownUntil: NOW - 5, lastError: down });
  expect(coolingDownError(over, rates).retryAt).toBe(WALL);
  expect(absentError(over, rates).retryAt).toBe(WALL);
});

it('closedError names the member', () => {
  expect(closedError('rates').message).toMatch(/rates.*is closed/);
});

it.each([
  [entryWith({}), 'open', /not loaded yet: await get\(\) or ready\(\) first$/],
  [entryWith({}), 'paused', /is paused, and was never loaded$/],
  [entryWith({}), 'closed', /is closed, and was never loaded$/],
  [cold, 'open', /not loaded yet: down$/],
] as const)('notLoadedError gives the reason (%#)', (entry, runState, message) => {
  const error = notLoadedError(entry, runState, 'rates');
  expect(error.message).toMatch(message);
  expect(error).toMatchObject({ member: 'rates', key: 'NL' });
  expect(error.cause).toBe(entry.lastError);
});
