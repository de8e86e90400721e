import { describe, expect, it } from 'vitest';
import type { AcquireRequest } from '../../../src/cluster/lock-contract.ts';
import { CLOCK_BACK_MS, type Ending } from '../../../src/lock/lock-backend.ts';
import {
  acquired,
  extended,
  forceReleased,
  isLive,
  type Record,
  released,
  rowOf,
} from '../../../src/lock/record.ts';

const WALL = Date.UTC(2026, 0, 1);

function request(given: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: 'n', owner: 'o', requestId: 'r', host: 'h', leaseFor: 1000, force: false, ...given };
}

function begun(at: number, given: Partial<AcquireRequest> = {}): Record {
  return acquired(undefined, request(given), { at, wall: WALL });
}

function ended(record: Record, ending: Partial<Ending>, at: number): Record {
  const { token, requestId } = record;
  const whole: Ending = { state: 'done', holdFor: 0, error: undefined, ...ending };
  const after = released(record, { name: 'n', token, requestId }, whole, at);
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

  it('leaves a live lease as it is, whoever asks, also by force', () => {
    const record = begun(0);
    for (const asked of [request(), request({ requestId: 'r2' }), request({ owner: 'o2', force: true })]) {
      expect(acquired(record, asked, { at: 999.9, wall: WALL })).toBe(record);
    }
  });

  it('takes over at the very end of the lease', () => {
    const record = begun(0);
    const next = acquired(record, request({ owner: 'o2' }), { at: 1000, wall: WALL });
    expect(next).toMatchObject({ owner: 'o2', tookOver: true, token: record.token + 1 });
  });

  it('the token follows the wall clock, and exceeds the last one where that lags', () => {
    const record = begun(0);
    const at = 5000;
    expect(acquired(record, request(), { at, wall: WALL + 5000 }).token).toBe((WALL + 5000) * 1000);
    expect(acquired(record, request(), { at, wall: WALL - 3_600_000 }).token).toBe(record.token + 1);
    expect(acquired(undefined, request(), { at, wall: WALL + 0.5 }).token).toBe(WALL * 1000 + 500);
    expect(Number.isSafeInteger(acquired(undefined, request(), { at, wall: Date.UTC(2200) }).token)).toBe(
      true,
    );
  });

  it('the greatest token is that of the last round there is', () => {
    const late = { at: 5000, wall: 0 };
    const last = { ...begun(0), token: Number.MAX_SAFE_INTEGER - 1 };
    expect(acquired(last, request(), late).token).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 0.5, Number.NaN, '5'])(
    'begins no round after one whose token is %o: somebody has edited it',
    (token) => {
      const edited = { ...begun(0), token: token as number };
      const act = () => acquired(edited, request(), { at: 5000, wall: WALL });
      expect(act).toThrow(TypeError);
      expect(act).toThrow(/token .*no successor/);
    },
  );

  it('heeds the hold up to its end, unless forced', () => {
    for (const state of ['done', 'failed'] as const) {
      const record = ended(begun(0), { state, holdFor: 300 }, 100);
      expect(acquired(record, request(), { at: 399, wall: WALL })).toBe(record);
      expect(acquired(record, request(), { at: 400, wall: WALL })).toMatchObject({ tookOver: false });
      expect(acquired(record, request({ force: true }), { at: 101, wall: WALL })).toMatchObject({
        tookOver: false,
        token: record.token + 1,
        state: 'running',
        lastError: null,
        finishedAt: null,
      });
    }
  });
});

describe('extended', () => {
  const record = begun(0);
  const { token, requestId } = record;

  it('counts from now, and changes nothing else', () => {
    expect(extended(record, { name: 'n', token, requestId }, 50, 900)).toEqual({
      ...record,
      leaseUntil: 950,
    });
  });

  it('refuses others, and what has ended', () => {
    expect(extended(undefined, { name: 'n', token, requestId }, 50, 0)).toBeUndefined();
    expect(extended(record, { name: 'n', token: token + 1, requestId }, 50, 0)).toBeUndefined();
    expect(extended(record, { name: 'n', token, requestId: 'r2' }, 50, 0)).toBeUndefined();
    expect(extended(record, { name: 'n', token, requestId }, 50, 1000)).toBeUndefined();
    for (const state of ['done', 'failed', 'abandoned'] as const) {
      const over = ended(record, { state, holdFor: 5000 }, 10);
      expect(extended(over, { name: 'n', token, requestId }, 50, 20)).toBeUndefined();
    }
    const freed = forceReleased(record, token, 10);
    expect(extended(freed, { name: 'n', token, requestId }, 50, 20)).toBeUndefined();
  });
});

describe('released', () => {
  const record = begun(0);
  const { token, requestId } = record;
  const ending: Ending = { state: 'failed', holdFor: 300, error: 'down' };

  it('ends the lease, and holds the next round', () => {
    expect(released(record, { name: 'n', token, requestId }, ending, 100)).toEqual({
      ...record,
      state: 'failed',
      leaseUntil: 100,
      notBefore: 400,
      finishedAt: 100,
      lastError: 'down',
    });
  });

  it('refuses others, and what has expired', () => {
    expect(released(undefined, { name: 'n', token, requestId }, ending, 100)).toBeUndefined();
    expect(released(record, { name: 'n', token: token - 1, requestId }, ending, 100)).toBeUndefined();
    expect(released(record, { name: 'n', token, requestId: 'r2' }, ending, 100)).toBeUndefined();
    expect(released(record, { name: 'n', token, requestId }, ending, 1000)).toBeUndefined();
  });

  it('told once more changes nothing, however late; told otherwise is refused', () => {
    const over = ended(record, ending, 100);
    expect(released(over, { name: 'n', token, requestId }, ending, 9999)).toBe(over);
    expect(
      released(over, { name: 'n', token, requestId }, { ...ending, state: 'done' }, 200),
    ).toBeUndefined();
  });
});

describe('forceReleased', () => {
  it('ends leases and holds of that token', () => {
    const record = begun(0);
    expect(forceReleased(record, record.token, 10)).toMatchObject({ state: 'released', leaseUntil: 10 });
    const held = ended(record, { holdFor: 5000 }, 10);
    expect(forceReleased(held, held.token, 20)).toMatchObject({ state: 'released', notBefore: 20 });
    expect(forceReleased(held, held.token + 1, 20)).toBeUndefined();
    expect(forceReleased(undefined, 1, 20)).toBeUndefined();
  });
});

describe('a clock that was set back', () => {
  const at = 10_000_000;

  it('by up to a minute lengthens a lease', () => {
    const record = begun(at);
    expect(isLive(record, at - CLOCK_BACK_MS)).toBe(true);
    expect(acquired(record, request(), { at: at - CLOCK_BACK_MS, wall: WALL })).toBe(record);
  });

  it('by more than a minute ends it: it would last for hours', () => {
    const record = begun(at);
    const now = { at: at - CLOCK_BACK_MS - 1, wall: WALL - CLOCK_BACK_MS - 1 };
    expect(isLive(record, now.at)).toBe(false);
    expect(rowOf('n', record, now).leaseLeft).toBe(0);
    expect(extended(record, { name: 'n', token: record.token, requestId: 'r' }, 50, now.at)).toBeUndefined();
    const next = acquired(record, request({ owner: 'o2' }), now);
    expect(next).toMatchObject({ owner: 'o2', tookOver: true, token: record.token + 1 });
  });

  it('by up to a minute lengthens a hold, by more ends it', () => {
    const record = ended(begun(at, { leaseFor: 100_000 }), { holdFor: 3_600_000 }, at + 80_000);
    const back = { at: at + 80_000 - CLOCK_BACK_MS, wall: WALL };
    expect(acquired(record, request(), back)).toBe(record);
    expect(rowOf('n', record, back).holdLeft).toBe(3_600_000 + CLOCK_BACK_MS);
    const further = { at: back.at - 1, wall: WALL };
    expect(rowOf('n', record, further).holdLeft).toBe(0);
    expect(acquired(record, request(), further)).toMatchObject({ state: 'running', tookOver: false });
  });

  it('does not bring a lease back that was ended, nor hold what nobody holds', () => {
    const record = begun(at);
    const { token, requestId } = record;
    const over = ended(record, { state: 'abandoned' }, at + 500);
    expect(isLive(over, at + 100)).toBe(false);
    expect(extended(over, { name: 'n', token, requestId }, 50, at + 100)).toBeUndefined();
    const freed = forceReleased(record, token, at + 500);
    expect(extended(freed, { name: 'n', token, requestId }, 50, at + 100)).toBeUndefined();
    expect(rowOf('n', record, { at: at - 100, wall: WALL })).toMatchObject({ leaseLeft: 1100, holdLeft: 0 });
  });

  it('and one that was set forward ends leases and holds early, never late', () => {
    const record = begun(at);
    expect(isLive(record, at + 3_600_000)).toBe(false);
    const held = ended(record, { holdFor: 1000 }, at + 10);
    expect(acquired(held, request(), { at: at + 3_600_000, wall: WALL })).toMatchObject({ state: 'running' });
  });
});

describe('rowOf', () => {
  it('shows durations, and what is over as 0', () => {
    const record = ended(begun(100), { state: 'failed', holdFor: 300, error: 'down' }, 150);
    const { token } = record;
    expect(rowOf('n', record, { at: 200, wall: WALL })).toEqual({
      name: 'n',
      token,
      owner: 'o',
      requestId: 'r',
      host: 'h',
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
