import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { absence, closedError, coolingDown, notLoaded, refusal } from '../../../src/engine/read-errors.ts';

const NOW = 10_000;
const down = new Error('down');

function entryWith(change: Partial<Entry<unknown>>): Entry<unknown> {
  return Object.assign(new Entry<unknown>('NL'), change);
}

const cold = entryWith({ coolDownUntil: NOW + 250.5, lastError: down });
const old = entryWith({ isLoaded: true, loadedAt: NOW - 5000, maxStalenessMs: 4000, lastError: down });
const absent = entryWith({ coolDownUntil: NOW + 70, lastError: absence(entryWith({}), 'rates', 0) });

/** What all of them carry. */
const of = { cacheName: 'rates', key: 'NL', cause: down };

describe('a refusal', () => {
  it.each([
    [
      'too old',
      old,
      'open',
      'serve',
      { code: 'ERR_TICKLESS_STALE_VALUE', age: 5000, maxStaleness: 4000, ...of },
    ],
    ['too old, closed', old, 'closed', 'serve', { code: 'ERR_TICKLESS_STALE_VALUE', ...of }],
    ['too old, closed for reads', old, 'closed', 'throw', { code: 'ERR_TICKLESS_CLOSED', ...of }],
    ['too old, to be closed for reads', old, 'open', 'throw', { code: 'ERR_TICKLESS_STALE_VALUE', ...of }],
    ['cooling down', cold, 'open', 'serve', { code: 'ERR_TICKLESS_COOLING_DOWN', retryAfter: 250.5, ...of }],
    ['paused', cold, 'paused', 'serve', { code: 'ERR_TICKLESS_NOT_LOADED', ...of }],
    ['closed', cold, 'closed', 'serve', { code: 'ERR_TICKLESS_CLOSED', ...of }],
    ['absent', absent, 'open', 'serve', { code: 'ERR_TICKLESS_ABSENT', retryAfter: 70, key: 'NL' }],
    ['absent, closed', absent, 'closed', 'serve', { code: 'ERR_TICKLESS_ABSENT' }],
  ] as const)('of what is %s says so', (_, entry, gate, whenClosed, error) => {
    expect(refusal(entry, { gate, whenClosed }, 'rates', NOW)).toMatchObject(error);
  });

  it('tells people in a line what it is about', () => {
    const told = (entry: Entry<unknown>, gate: 'open' | 'paused' | 'closed', whenClosed: 'serve' | 'throw') =>
      refusal(entry, { gate, whenClosed }, 'rates', NOW).message;
    expect(told(old, 'open', 'serve')).toMatch(/rates.*NL.*5000 ms old.*maxStaleness of 4000 ms/);
    expect(told(old, 'closed', 'throw')).toMatch(/closed.*whenClosed/);
    expect(told(cold, 'open', 'serve')).toMatch(/cooling down for 251 ms.*down$/);
    expect(told(cold, 'paused', 'serve')).toMatch(/paused.*never loaded/);
    expect(told(cold, 'closed', 'serve')).toMatch(/closed.*never loaded/);
    expect(told(absent, 'open', 'serve')).toMatch(/no such key/);
    expect(closedError('rates').message).toMatch(/rates.*closed/);
  });

  it('asks nobody to come again before now', () => {
    expect(coolingDown(entryWith({ coolDownUntil: NOW - 5, lastError: down }), 'rates', NOW).retryAfter).toBe(
      0,
    );
    expect(absence(entryWith({ coolDownUntil: NOW - 5 }), 'rates', NOW).retryAfter).toBe(0);
  });
});

describe('notLoaded', () => {
  it('says why nothing was loaded: too early, shut, or failed', () => {
    const untried = entryWith({});
    expect(notLoaded(untried, 'open', 'rates').message).toMatch(/not loaded yet$/);
    expect(notLoaded(untried, 'paused', 'rates').message).toMatch(/paused, and was never loaded$/);
    expect(notLoaded(untried, 'closed', 'rates').message).toMatch(/closed, and was never loaded$/);
    expect(notLoaded(cold, 'open', 'rates').message).toMatch(/not loaded yet: down$/);
    expect(notLoaded(cold, 'open', 'rates')).toMatchObject(of);
  });
});
