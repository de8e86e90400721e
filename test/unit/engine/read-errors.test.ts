import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import {
  absentError,
  closedError,
  coolingDownError,
  notLoadedError,
  readError,
} from '../../../src/engine/read-errors.ts';

const NOW = 10_000;
const down = new Error('down');

function entryWith(change: Partial<Entry<unknown>>): Entry<unknown> {
  return Object.assign(new Entry<unknown>('NL'), change);
}

const cold = entryWith({ coolDownUntil: NOW + 250.5, lastError: down });
const old = entryWith({ isLoaded: true, loadedAt: NOW - 5000, maxStalenessMs: 4000, lastError: down });
const absent = entryWith({ coolDownUntil: NOW + 70, lastError: absentError(entryWith({}), 'rates', 0) });

const tooOld = {
  code: 'ERR_TICKLESS_STALE_VALUE',
  age: 5000,
  maxStaleness: 4000,
  message: /rates.*NL.*the value is 5 s old, maxStaleness is 4 s: down$/,
};
const coolingDown = {
  code: 'ERR_TICKLESS_COOLING_DOWN',
  retryAfter: 250.5,
  message: /cooling down for 251 ms after: down$/,
};

describe('readError', () => {
  it.each([
    ['a value that is too old', old, 'open', tooOld],
    ['a value that is too old, closed', old, 'closed', tooOld],
    ['a cool-down', cold, 'open', coolingDown],
    [
      'a cool-down, paused',
      cold,
      'paused',
      { code: 'ERR_TICKLESS_NOT_LOADED', message: /paused.*never loaded/ },
    ],
    ['a cool-down, closed', cold, 'closed', { code: 'ERR_TICKLESS_CLOSED', message: /closed.*never loaded/ }],
  ] as const)('of %s', (_, entry, runState, { message, ...error }) => {
    const made = readError(entry, { runState, whenFailing: 'serve' }, 'rates', NOW);
    expect(made).toMatchObject({ cacheName: 'rates', key: 'NL', cause: down, ...error });
    expect(made.message).toMatch(message);
  });

  it('has the shortest of the limits', () => {
    const rules = { runState: 'open', whenFailing: 'serve' } as const;
    for (const [ownMs, limit, shown] of [
      [3000, 3000, '3 s'],
      [4500, 4000, '4 s'],
    ] as const) {
      const made = readError(old, rules, 'rates', NOW, ownMs);
      expect(made).toMatchObject({ age: 5000, maxStaleness: limit });
      expect(made.message).toContain(`the value is 5 s old, maxStaleness is ${shown}: down`);
    }
  });

  it.each(['open', 'closed'] as const)('of an absent key, %s', (runState) => {
    const made = readError(absent, { runState, whenFailing: 'serve' }, 'rates', NOW);
    expect(made).toMatchObject({ code: 'ERR_TICKLESS_ABSENT', retryAfter: 70, key: 'NL' });
    expect(made.message).toMatch(/the source does not have this key/);
  });
});

describe('retryAfter', () => {
  it('is never negative', () => {
    const over = entryWith({ coolDownUntil: NOW - 5, lastError: down });
    expect(coolingDownError(over, 'rates', NOW).retryAfter).toBe(0);
    expect(absentError(over, 'rates', NOW).retryAfter).toBe(0);
  });
});

it('closedError names the member', () => {
  expect(closedError('rates').message).toMatch(/rates.*is closed/);
});

describe('notLoadedError', () => {
  it.each([
    [entryWith({}), 'open', /not loaded yet: await get\(\) or ready\(\) first$/],
    [entryWith({}), 'paused', /is paused, and was never loaded$/],
    [entryWith({}), 'closed', /is closed, and was never loaded$/],
    [cold, 'open', /not loaded yet: down$/],
  ] as const)('gives the reason (%#)', (entry, runState, message) => {
    const error = notLoadedError(entry, runState, 'rates');
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ cacheName: 'rates', key: 'NL' });
    expect(error.cause).toBe(entry.lastError);
  });
});
