import { describe, expect, it } from 'vitest';
import { isLockUnavailableError, isOptionError } from '../../../src/errors.ts';
import { createLock, type Lock } from '../../../src/lock/create-lock.ts';
import type { LockEngine, LockRow } from '../../../src/lock/lock-backend.ts';
import { memoryLock } from '../../../src/lock/memory.ts';

const ROW: LockRow = {
  name: 'n',
  token: 7,
  owner: 'o',
  requestId: 'r',
  host: 'h',
  state: 'running',
  tookOver: false,
  leaseLeft: 100,
  holdLeft: 0,
  acquiredAgo: 5,
  finishedAgo: undefined,
  lastError: undefined,
  now: 1_767_225_600_000,
};

/** An engine whose every step is the same. */
function engineOf(step: () => unknown): LockEngine {
  return {
    acquire: step,
    extend: step,
    release: step,
    find: step,
    list: step,
    forceRelease: step,
  } as unknown as LockEngine;
}

const KIND = { longestName: 20, options: [] };
const LEASE = { name: 'n', requestId: 'r', token: 7 };

function lockOf(step: () => unknown): Lock {
  return createLock(engineOf(step), { timeout: 20 }, KIND);
}

/** Each method, called soundly. */
const CALLS: Record<string, (lock: Lock) => Promise<unknown>> = {
  acquire: (lock) => lock.acquire({ name: 'n' }),
  extend: (lock) => lock.extend(LEASE),
  release: (lock) => lock.release(LEASE, { as: 'abandoned' }),
  inspect: (lock) => lock.inspect('n'),
  list: (lock) => lock.list(),
  forceRelease: (lock) => lock.forceRelease('n', 7),
};

function answerTo(row: Partial<LockRow>, requestId = 'r') {
  return lockOf(async () => ({ ...ROW, ...row })).acquire({ name: 'n', requestId });
}

describe('createLock', () => {
  describe.each(Object.entries(CALLS))('%s', (_, call) => {
    it('rejects with LockUnavailableError, and its cause, when the engine does', async () => {
      const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      const error = await rejectionOf(call(lockOf(() => Promise.reject(down))));
      expect(isLockUnavailableError(error)).toBe(true);
      expect(error.cause).toBe(down);
      expect(error.message).toMatch(/^(n|lock): the lock is unavailable: connect ECONNREFUSED$/);
    });

    it('rejects so when the engine throws, or rejects with what is no error', async () => {
      const throwing = lockOf(() => {
        throw new TypeError();
      });
      await expect(call(throwing)).rejects.toThrow('the lock is unavailable: TypeError');
      await expect(call(lockOf(() => Promise.reject('closed')))).rejects.toThrow('unavailable: closed');
    });

    it('rejects within its timeout when the engine hangs', async () => {
      const error = await rejectionOf(call(lockOf(() => new Promise(() => {}))));
      expect(isLockUnavailableError(error)).toBe(true);
      expect(error.cause).toMatchObject({ code: 'ETIMEDOUT' });
      expect(error.message).toContain('no answer within 20 ms');
    });
  });

  it('a rejection after the timeout is no unhandled one', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const lock = lockOf(() => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 40)));
      await expect(lock.acquire({ name: 'n' })).rejects.toThrow('no answer');
      await new Promise((resolve) => setTimeout(resolve, 80));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });

  it('turns rows into answers', async () => {
    expect(await answerTo({})).toEqual({
      kind: 'acquired',
      lease: { name: 'n', owner: 'o', requestId: 'r', token: 7, remaining: 100 },
      tookOver: false,
      now: ROW.now,
    });
    const others = { owner: 'o', host: 'h', token: 7, now: ROW.now };
    expect(await answerTo({}, 'r2')).toEqual({
      kind: 'held',
      retryAfter: 100,
      heldFor: 5,
      isBackoff: false,
      ...others,
    });
    expect(await answerTo({ state: 'done', leaseLeft: 0, holdLeft: 50, finishedAgo: 3 })).toEqual({
      kind: 'done',
      retryAfter: 50,
      finishedAgo: 3,
      ...others,
    });
    expect(await answerTo({ state: 'failed', leaseLeft: 0, holdLeft: 50, finishedAgo: 3 })).toEqual({
      kind: 'held',
      retryAfter: 50,
      heldFor: 5,
      isBackoff: true,
      ...others,
    });
  });

  it('a row that has just changed is held for a moment, never for 0 ms', async () => {
    for (const row of [
      { leaseLeft: 0 },
      { leaseLeft: -5 },
      { state: 'done', leaseLeft: 0, holdLeft: 0, finishedAgo: 3 },
      { state: 'failed', leaseLeft: -1, holdLeft: -1, finishedAgo: 3 },
      { state: 'abandoned', leaseLeft: 0, finishedAgo: 3 },
      { state: 'released', leaseLeft: 0, finishedAgo: 3 },
    ] as const) {
      const answer = await answerTo(row);
      expect(answer).toMatchObject({ kind: 'held', retryAfter: 10 });
    }
  });

  it('durations that are negative by the clock of the engine are 0', async () => {
    expect(await answerTo({ acquiredAgo: -3 }, 'r2')).toMatchObject({ heldFor: 0 });
    expect(await answerTo({ state: 'done', holdLeft: 5, finishedAgo: -3 })).toMatchObject({ finishedAgo: 0 });
    const lock = lockOf(async () => ({ ...ROW, leaseLeft: -1, holdLeft: -1 }));
    expect(await lock.inspect('n')).toMatchObject({ leaseLeft: 0, holdLeft: 0 });
  });

  it('a record tells neither the request nor the clock', async () => {
    const lock = lockOf(async () => ROW);
    const { requestId: _, now: __, ...record } = ROW;
    expect(await lock.inspect('n')).toEqual(record);
    expect(await lockOf(async () => undefined).inspect('n')).toBeUndefined();
  });

  it('lists in the order of the names', async () => {
    const names = ['b', 'a', 'B', 'ä', 'a1'];
    const lock = lockOf(async () => names.map((name) => ({ ...ROW, name })));
    expect((await lock.list()).map(({ name }) => name)).toEqual([...names].sort());
  });

  it('acquire by hand takes only a name: a new request of this process', async () => {
    const lock = memoryLock();
    const first = await lock.acquire({ name: 'n' });
    expect(first).toMatchObject({
      kind: 'acquired',
      lease: { owner: expect.stringContaining(`${process.pid}-`) },
    });
    expect((await lock.acquire({ name: 'n' })).kind).toBe('held');
    const second = await lock.acquire({ name: 'n2', leaseFor: 500 });
    if (first.kind !== 'acquired' || second.kind !== 'acquired') throw new Error('held');
    expect(second.lease.owner).toBe(first.lease.owner);
    expect(second.lease.requestId).not.toBe(first.lease.requestId);
    expect(first.lease.remaining).toBeCloseTo(30_000);
    expect(second.lease.remaining).toBeCloseTo(500);
    expect(await lock.extend(second.lease)).toBe(true);
    expect((await lock.inspect('n2'))?.leaseLeft).toBeGreaterThan(29_000);
  });

  it('leaseFor and timeout take durations of any kind', () => {
    expect(memoryLock({ leaseFor: { minutes: 1 }, timeout: { seconds: 1 } }).leaseFor).toBe(60_000);
    expect(memoryLock({ leaseFor: undefined }).leaseFor).toBe(30_000);
  });

  it.each([
    ['leaseFor of 0', { leaseFor: 0 }, 'leaseFor'],
    ['leaseFor without end', { leaseFor: Infinity }, 'leaseFor'],
    ['leaseFor that is none', { leaseFor: '30s' }, 'leaseFor'],
    ['timeout of 0', { timeout: 0 }, 'timeout'],
    ['timeout without end', { timeout: Infinity }, 'timeout'],
    ['an option that there is not', { lease: 5 }, 'lease'],
  ])('refuses %s', (_, options, option) => {
    const error = caught(() =>
      createLock(
        engineOf(async () => ROW),
        options as object,
        KIND,
      ),
    );
    expect(isOptionError(error)).toBe(true);
    expect(error).toMatchObject({ option });
  });

  it('takes no options at all', () => {
    expect(
      createLock(
        engineOf(async () => ROW),
        undefined as never,
        KIND,
      ).leaseFor,
    ).toBe(30_000);
  });

  it.each<[string, (lock: Lock) => Promise<unknown>, string]>([
    ['acquire without a name', (lock) => lock.acquire({ name: '' }), 'name'],
    ['acquire of a name that is none', (lock) => lock.acquire({ name: 5 as never }), 'name'],
    ['acquire of a name too long', (lock) => lock.acquire({ name: 'x'.repeat(21) }), 'name'],
    ['acquire of a name with too many bytes', (lock) => lock.acquire({ name: 'é'.repeat(11) }), 'name'],
    ['acquire without an owner', (lock) => lock.acquire({ name: 'n', owner: '' }), 'owner'],
    ['acquire without a request', (lock) => lock.acquire({ name: 'n', requestId: '' }), 'requestId'],
    ['acquire for 0 ms', (lock) => lock.acquire({ name: 'n', leaseFor: 0 }), 'leaseFor'],
    ['extend for ever', (lock) => lock.extend(LEASE, Infinity), 'leaseFor'],
    ['release as what there is not', (lock) => lock.release(LEASE, { as: 'over' } as never), 'as'],
    ['release as running', (lock) => lock.release(LEASE, { as: 'running' } as never), 'as'],
    ['a hold under 0', (lock) => lock.release(LEASE, { as: 'done', holdFor: -1 }), 'holdFor'],
    ['inspect without a name', (lock) => lock.inspect(''), 'name'],
    ['forceRelease without a token', (lock) => lock.forceRelease('n', undefined as never), 'token'],
    ['list of no number', (lock) => lock.list({ limit: 0 }), 'limit'],
    ['list of a prefix that is none', (lock) => lock.list({ prefix: 5 as never }), 'prefix'],
  ])('%s is an OptionError, and never reaches the engine', async (_, call, option) => {
    let asked = 0;
    const lock = lockOf(async () => {
      asked += 1;
      return ROW;
    });
    const error = await rejectionOf(call(lock));
    expect(isOptionError(error)).toBe(true);
    expect(error).toMatchObject({ option });
    expect(asked).toBe(0);
  });
});

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  const answer = await promise.catch((error: Error) => ({ error }));
  return (answer as { error: Error }).error;
}
