import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { backendHealth, entryHealth, runStateHealth } from '../../../src/group/health.ts';
import { handleOf } from '../engine/support.ts';

type Rules = Parameters<typeof entryHealth>[1];

const NOW = 10_000;
const LIMIT = 4000;
const flight = handleOf();
const down = new Error('down');
const failed = { failures: 1, lastError: down };

function health(change: Partial<Entry<unknown>>, rules: Partial<Rules> = {}) {
  const entry = Object.assign(new Entry<unknown>(), { maxStalenessMs: LIMIT, ...change });
  const usual = { name: 'rates', isRequired: false, runState: 'open', whenTooStale: 'wait' } as const;
  const all: Rules = { ...usual, whenFailing: 'serve', ...rules };
  return entryHealth(entry, all, NOW);
}

/** Loaded `age` milliseconds ago. */
const loadedFor = (age: number) => ({ isLoaded: true, loadedAt: NOW - age });

describe('entryHealth', () => {
  it('has no problem with a value up to its age limit, nor with a missing one that is not required', () => {
    expect(health(loadedFor(LIMIT))).toEqual([]);
    expect(health(loadedFor(LIMIT), { isRequired: true })).toEqual([]);
    expect(health({})).toEqual([]);
  });

  it.each([
    [{}, ''],
    [{ flight }, ', is being loaded'],
    [failed, ': down'],
    [{ flight, ...failed }, ', is being loaded: down'],
  ])('reports a required value that is missing (%#)', (change, why) => {
    const message = `is required, and had no success yet${why}`;
    const error = 'lastError' in change ? { error: down } : {};
    expect(health(change, { isRequired: true })).toStrictEqual([
      { name: 'rates', kind: 'not-loaded', isFatal: true, message, ...error },
    ]);
  });

  it('reports a failing value; fatal only if its reads are refused', () => {
    for (const whenFailing of ['serve', 'throw'] as const) {
      const [problem] = health({ ...loadedFor(1), ...failed }, { whenFailing });
      expect([problem?.kind, problem?.isFatal]).toEqual(['failing', whenFailing === 'throw']);
    }
  });

  it('reports a value that is too old; fatal only if the next read is unable to reload it', () => {
    const message = 'is 4 s old, maxStaleness is 4 s';
    const tooOld = loadedFor(LIMIT + 1);
    const next = `${message}: the next read starts a load`;
    expect(health(tooOld)).toMatchObject([{ kind: 'too-stale', message: next, isFatal: false }]);
    const hanging = { ...tooOld, flight };
    expect(health(hanging)).toMatchObject([{ message: `${message}, is being loaded`, isFatal: false }]);
    expect(health(hanging, { isRefusing: true })).toMatchObject([{ kind: 'too-stale', isFatal: true }]);
    expect(health({ ...tooOld, ...failed })).toMatchObject([
      { kind: 'too-stale', message: `${message}: down`, isFatal: true, error: down },
    ]);
    for (const runState of ['paused', 'closed'] as const) {
      expect(health(tooOld, { runState })).toMatchObject([{ kind: 'too-stale', isFatal: true }]);
    }
  });

  it.each([
    [1, 'failed: down'],
    [2, 'failed 2 times in a row: down'],
  ])('reports %i failures in a row, which are not fatal', (failures, message) => {
    const problems = health({ ...loadedFor(1), ...failed, failures });
    expect(problems).toMatchObject([{ kind: 'failing', isFatal: false, message }]);
  });
});

it('runStateHealth reports a member that is not open; fatal if it is closed', () => {
  expect(runStateHealth('open', 'rates')).toEqual([]);
  expect([runStateHealth('paused', 'rates'), runStateHealth('closed', 'rates')]).toEqual([
    [{ name: 'rates', kind: 'paused', isFatal: false, message: 'is paused' }],
    [{ name: 'rates', kind: 'closed', isFatal: true, message: 'is closed' }],
  ]);
});

it('backendHealth reports an unreachable backend once, which is not fatal', () => {
  expect(backendHealth([], 'rates')).toEqual([]);
  expect(backendHealth([{ what: 'lock', error: down }], 'rates')).toEqual([
    { name: 'rates', kind: 'backend-down', isFatal: false, message: 'down', error: down },
  ]);
  const all = (['lock', 'store'] as const).map((what) => ({ what, error: down }));
  const checks = { what: 'checks', error: down, forMs: 5000 } as const;
  const message = 'knows no changes of other instances for 5 s: down';
  expect(backendHealth([...all, checks], 'rates')).toMatchObject([{ kind: 'backend-down', message }]);
  expect(backendHealth([checks], 'rates')).toMatchObject([{ kind: 'checks-failing', message }]);
});
