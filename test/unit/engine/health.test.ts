import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { clusterHealth, entryHealth, gateHealth } from '../../../src/engine/health.ts';

type ResolvedOptions = Parameters<typeof entryHealth>[1];

const NOW = 10_000;
const LIMIT = 4000;
const flight = { depart: () => {}, hold: () => {}, release: () => {}, end: () => {} };
const down = new Error('down');

const policy: ResolvedOptions = { name: 'rates', isRequired: false, gate: 'open', whenTooStale: 'wait' };

/** Loaded so long ago. */
function loadedFor(age: number, change: Partial<Entry<unknown>> = {}): Entry<unknown> {
  return Object.assign(new Entry<unknown>(), {
    isLoaded: true,
    loadedAt: NOW - age,
    maxStalenessMs: LIMIT,
    ...change,
  });
}

const health = (
  entry: Entry<unknown>,
  change: Partial<ResolvedOptions> = {},
): ReturnType<typeof entryHealth> => entryHealth(entry, { ...policy, ...change }, NOW);

describe('entryHealth', () => {
  it('has no problem with what was loaded, up to its age limit, nor with what nobody requires', () => {
    expect(health(loadedFor(LIMIT))).toEqual([]);
    expect(health(loadedFor(LIMIT), { isRequired: true })).toEqual([]);
    expect(health(new Entry<unknown>())).toEqual([]);
  });

  it('says of a required one that it is missing, whether it is being loaded, and why it failed', () => {
    const problem = { name: 'rates', kind: 'not-loaded', isFatal: true };
    const missing = 'is required, and had no success yet';
    const messages = [
      [{}, missing],
      [{ flight }, `${missing}, is being loaded`],
      [{ failures: 1, lastError: down }, `${missing}: down`],
      [{ flight, failures: 1, lastError: down }, `${missing}, is being loaded: down`],
    ] as const;
    for (const [change, message] of messages) {
      const error = 'lastError' in change ? { error: down } : {};
      const problems = health(Object.assign(new Entry<unknown>(), change), { isRequired: true });
      expect(problems).toStrictEqual([{ ...problem, message, ...error }]);
    }
  });

  it('says how old what is too old is; it is fatal only if nothing can mend it', () => {
    const old = { kind: 'too-stale', message: expect.stringMatching(/4001 ms old.*maxStaleness of 4000 ms/) };
    expect(health(loadedFor(LIMIT + 1))).toMatchObject([{ ...old, isFatal: false }]);
    expect(health(loadedFor(LIMIT + 1, { failures: 1, lastError: down }))).toMatchObject([
      { ...old, isFatal: true, error: down },
    ]);
    for (const gate of ['paused', 'closed'] as const) {
      expect(health(loadedFor(LIMIT + 1), { gate })).toMatchObject([{ ...old, isFatal: true }]);
    }
    expect(health(loadedFor(LIMIT + 1), { whenTooStale: 'serve' })).toEqual([]);
  });

  it('says how often in a row it failed, which is not fatal', () => {
    const failing = (failures: number): unknown =>
      health(loadedFor(1, { failures, lastError: down }))[0]?.message;
    expect([failing(1), failing(2)]).toEqual(['failed: down', 'failed 2 times in a row: down']);
    expect(health(loadedFor(1, { failures: 1, lastError: down }))).toMatchObject([
      { kind: 'failing', isFatal: false },
    ]);
  });
});

describe('gateHealth', () => {
  it('says of the gate that it is not open; only closed it stays so', () => {
    expect(gateHealth('open', 'rates')).toEqual([]);
    expect([gateHealth('paused', 'rates'), gateHealth('closed', 'rates')]).toEqual([
      [{ name: 'rates', kind: 'paused', isFatal: false, message: 'is paused' }],
      [{ name: 'rates', kind: 'closed', isFatal: true, message: 'is closed' }],
    ]);
  });
});

describe('clusterHealth', () => {
  it('says what can not be asked, and why, which is not fatal', () => {
    expect(clusterHealth('rates', { lockError: undefined, storeError: undefined })).toEqual([]);
    expect(clusterHealth('rates', { lockError: down, storeError: new Error('full') })).toEqual([
      { name: 'rates', kind: 'lock-unavailable', isFatal: false, message: 'down', error: down },
      { name: 'rates', kind: 'store-unavailable', isFatal: false, message: 'full', error: new Error('full') },
    ]);
  });
});
