import { describe, expect, it } from 'vitest';
import type { AcquireRequest } from '../../../src/cluster/lock-contract.ts';
import { LONGEST_AHEAD_MICROS } from '../../../src/cluster/plausible.ts';
import { CLOCK_BACK_MS, type Ending, LONGEST_AHEAD_MS } from '../../../src/lock/lock-backend.ts';
import {
  acquired,
  type BackendRecord,
  extended,
  forceReleased,
  isLive,
  released,
  rowOf,
} from '../../../src/lock/record.ts';

// The exact instants and fields; `lockConformance` shows the behaviour of each step.

const WALL = Date.UTC(2026, 0, 1);

function request(given: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: 'n', owner: 'o', requestId: 'r', host: 'h', leaseFor: 1000, force: false, ...given };
}

function begun(at: number, given: Partial<AcquireRequest> = {}): BackendRecord {
  return acquired(undefined, request(given), { at, wall: WALL });
}

const RECORD = begun(0);
/** The greatest plausible token: a year ahead of the clock. */
const AHEAD = WALL * 1000 + LONGEST_AHEAD_MICROS;
const LEASE = { name: 'n', token: RECORD.token, requestId: 'r' };
const OTHERS = [
  { ...LEASE, token: LEASE.token + 1 },
  { ...LEASE, token: LEASE.token - 1 },
  { ...LEASE, requestId: 'r2' },
];

function ended(record: BackendRecord, ending: Partial<Ending>, at: number): BackendRecord {
  const after = released(record, LEASE, { state: 'done', holdFor: 0, error: undefined, ...ending }, at);
  if (after === undefined) throw new Error('not released');
  return after;
}

describe('acquired', () => {
  it('begins a record', () => {
    expect(begun(500)).toEqual({
      token: WALL * 1000,
      owner: 'o',
      requestId: 'r',
      host: 'h',
      state: 'running',
      tookOver: false,
      leaseUntil: 1500,
      notBefore: 500,
      acquiredAt: 500,
      finishedAt: null,
      lastError: null,
    });
  });

  it('leaves a lease as it is until its very end, then takes over', () => {
    for (const other of [request(), request({ requestId: 'r2' }), request({ owner: 'o2', force: true })]) {
      expect(acquired(RECORD, other, { at: 999.9, wall: WALL })).toBe(RECORD);
    }
    const next = acquired(RECORD, request({ owner: 'o2' }), { at: 1000, wall: WALL });
    expect(next).toMatchObject({ owner: 'o2', tookOver: true, token: RECORD.token + 1 });
  });

  it.each([
    [RECORD, WALL + 5000, (WALL + 5000) * 1000],
    [RECORD, WALL - 3_600_000, RECORD.token + 1],
    [undefined, WALL + 0.5, WALL * 1000 + 500],
    [undefined, Date.UTC(2200), Date.UTC(2200) * 1000], // a safe integer
    [{ ...RECORD, token: AHEAD }, WALL, AHEAD + 1],
  ])('the token is the wall clock, or the successor if that lags: %o at %d', (record, wall, token) => {
    const next = acquired(record, request(), { at: 5000, wall });
    expect(next.token).toBe(token);
    expect(Number.isSafeInteger(next.token)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['token', AHEAD + 1],
    ['token', 0.5],
    ['token', Number.NaN],
    ['token', '5'],
    ['state', 'abc'],
    ['leaseUntil', LONGEST_AHEAD_MS + 501],
    ['leaseUntil', Number.NaN],
    ['notBefore', LONGEST_AHEAD_MS + 501],
    ['acquiredAt', Infinity],
    ['finishedAt', -Infinity],
    ['owner', 5],
    ['requestId', null],
  ])('replaces a record with the %s %o, and names the damage', (field, value) => {
    const now = { at: 500, wall: WALL };
    const next = acquired({ ...RECORD, [field]: value }, request({ owner: 'o2' }), now);
    expect(next).toMatchObject({ owner: 'o2', lastError: `replaced a damaged record: ${field}` });
    expect(next.token).toBe(field === 'token' ? WALL * 1000 : RECORD.token + 1);
  });

  it('leaves the longest lease and hold as they are', () => {
    const lease = { ...RECORD, leaseUntil: LONGEST_AHEAD_MS + 500 };
    expect(acquired(lease, request(), { at: 500, wall: WALL })).toBe(lease);
    const hold = { ...ended(RECORD, {}, 100), notBefore: LONGEST_AHEAD_MS + 500 };
    expect(acquired(hold, request(), { at: 500, wall: WALL })).toBe(hold);
  });

  it.each(['done', 'failed'] as const)(
    'respects the hold of a %s round to its end, unless forced',
    (state) => {
      const record = ended(RECORD, { state, holdFor: 300 }, 100);
      expect(acquired(record, request(), { at: 399, wall: WALL })).toBe(record);
      expect(acquired(record, request(), { at: 400, wall: WALL })).toMatchObject({
        state: 'running',
        tookOver: false,
      });
      expect(acquired(record, request({ force: true }), { at: 101, wall: WALL })).toMatchObject({
        tookOver: false,
        token: record.token + 1,
        state: 'running',
        lastError: null,
        finishedAt: null,
      });
    },
  );
});

describe('extended', () => {
  it('counts from now, and changes nothing else', () => {
    expect(extended(RECORD, LEASE, 50, 900)).toEqual({ ...RECORD, leaseUntil: 950 });
  });

  it('rejects other leases, expired and ended ones', () => {
    for (const other of OTHERS) expect(extended(RECORD, other, 50, 0)).toBeUndefined();
    expect(extended(undefined, LEASE, 50, 0)).toBeUndefined();
    expect(extended(RECORD, LEASE, 50, 1000)).toBeUndefined();
    for (const state of ['done', 'failed', 'abandoned'] as const) {
      expect(extended(ended(RECORD, { state, holdFor: 5000 }, 10), LEASE, 50, 20)).toBeUndefined();
    }
    expect(extended(forceReleased(RECORD, LEASE.token, 10), LEASE, 50, 20)).toBeUndefined();
  });
});

describe('released', () => {
  const ending: Ending = { state: 'failed', holdFor: 300, error: 'down' };

  it('ends the lease, and holds the next round', () => {
    expect(released(RECORD, LEASE, ending, 100)).toEqual({
      ...RECORD,
      state: 'failed',
      leaseUntil: 100,
      notBefore: 400,
      finishedAt: 100,
      lastError: 'down',
    });
  });

  it('rejects other leases and expired ones', () => {
    for (const other of OTHERS) expect(released(RECORD, other, ending, 100)).toBeUndefined();
    expect(released(undefined, LEASE, ending, 100)).toBeUndefined();
    expect(released(RECORD, LEASE, ending, 1000)).toBeUndefined();
  });

  it('repeated changes nothing, however late; with another state it is rejected', () => {
    const over = ended(RECORD, ending, 100);
    expect(released(over, LEASE, ending, 9999)).toBe(over);
    expect(released(over, LEASE, { ...ending, state: 'done' }, 200)).toBeUndefined();
  });
});

it('forceReleased ends leases and holds of that token', () => {
  expect(forceReleased(RECORD, LEASE.token, 10)).toMatchObject({ state: 'released', leaseUntil: 10 });
  const done = ended(RECORD, { holdFor: 5000 }, 10);
  expect(forceReleased(done, LEASE.token, 20)).toMatchObject({ state: 'released', notBefore: 20 });
  expect(forceReleased(done, LEASE.token + 1, 20)).toBeUndefined();
  expect(forceReleased(undefined, 1, 20)).toBeUndefined();
});

describe('a clock that was set back', () => {
  const at = 10_000_000;
  const record = begun(at);

  it('by up to a minute lengthens a lease, by more ends it', () => {
    expect(acquired(record, request(), { at: at - CLOCK_BACK_MS, wall: WALL })).toBe(record);
    const now = { at: at - CLOCK_BACK_MS - 1, wall: WALL - CLOCK_BACK_MS - 1 };
    expect(isLive(record, now.at)).toBe(false);
    expect(rowOf('n', record, now).leaseLeft).toBe(0);
    expect(extended(record, LEASE, 50, now.at)).toBeUndefined();
    const next = acquired(record, request({ owner: 'o2' }), now);
    expect(next).toMatchObject({ owner: 'o2', tookOver: true, token: record.token + 1 });
  });

  it('by up to a minute lengthens a hold, by more ends it', () => {
    const done = ended(begun(at, { leaseFor: 100_000 }), { holdFor: 3_600_000 }, at + 80_000);
    const back = { at: at + 80_000 - CLOCK_BACK_MS, wall: WALL };
    expect(acquired(done, request(), back)).toBe(done);
    expect(rowOf('n', done, back).holdLeft).toBe(3_600_000 + CLOCK_BACK_MS);
    const further = { at: back.at - 1, wall: WALL };
    expect(rowOf('n', done, further).holdLeft).toBe(0);
    expect(acquired(done, request(), further)).toMatchObject({ state: 'running', tookOver: false });
  });

  it('revives no ended lease, and adds no hold to a running round', () => {
    for (const over of [
      ended(record, { state: 'abandoned' }, at + 500),
      forceReleased(record, LEASE.token, at + 500),
    ]) {
      expect(isLive(over as BackendRecord, at + 100)).toBe(false);
      expect(extended(over, LEASE, 50, at + 100)).toBeUndefined();
    }
    expect(rowOf('n', record, { at: at - 100, wall: WALL })).toMatchObject({ leaseLeft: 1100, holdLeft: 0 });
  });
});

describe('rowOf', () => {
  it('shows durations, and 0 for what is over', () => {
    const record = ended(begun(100), { state: 'failed', holdFor: 300, error: 'down' }, 150);
    const { token, owner, requestId, host } = record;
    expect(rowOf('n', record, { at: 200, wall: WALL })).toEqual({
      name: 'n',
      ...{ token, owner, requestId, host },
      state: 'failed',
      tookOver: false,
      leaseLeft: 0,
      holdLeft: 250,
      acquiredAgo: 100,
      finishedAgo: 50,
      lastError: 'down',
      now: WALL,
    });
    expect(rowOf('n', begun(100), { at: 200, wall: WALL })).toMatchObject({
      leaseLeft: 900,
      holdLeft: 0,
      finishedAgo: undefined,
      lastError: undefined,
    });
  });
});
