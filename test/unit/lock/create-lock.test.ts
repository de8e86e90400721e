import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { thisHost, thisProcess } from '../../../src/cluster/identity.ts';
import { isTicklessError } from '../../../src/errors.ts';
import { optionError } from '../../../src/option-error.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf, lockOn } from '../../support/parts.ts';
import { type LockRow, recordsOfLock, type StepsOfLock } from '../../support/records-of-steps.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

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
const KIND = { longestName: 20, options: [] };
const LEASE = { name: 'n', requestId: 'r', token: 7 };

/** A backend with one implementation of all steps. */
function backendOf(step: (...args: never[]) => unknown): StepsOfLock {
  const steps = { acquire: step, extend: step, release: step, find: step, list: step, forceRelease: step };
  return steps as unknown as StepsOfLock;
}

function lockWith(step: (...args: never[]) => unknown, options: object = { timeout: 20 }): Lock {
  return lockOn(recordsOfLock(backendOf(step)), options, KIND);
}

/** Each method, with valid arguments. */
const CALLS: Record<string, (lock: Lock) => Promise<unknown>> = {
  acquire: (lock) => lock.acquire({ name: 'n' }),
  extend: (lock) => lock.extend(LEASE),
  release: (lock) => lock.release(LEASE, { as: 'abandoned' }),
  inspect: (lock) => lock.inspect('n'),
  list: (lock) => lock.list(),
  forceRelease: (lock) => lock.forceRelease('n', 7),
};

function answerTo(row: Partial<LockRow>, requestId = 'r') {
  return lockWith(async () => ({ ...ROW, ...row })).acquire({ name: 'n', requestId });
}

describe('createLock: an unavailable backend', () => {
  describe.each(Object.entries(CALLS))('%s', (_, call) => {
    it('rejects with BACKEND_DOWN and the cause', async () => {
      const down = new Error('connect ECONNREFUSED');
      const error = await rejectionOf<Error>(call(lockWith(() => Promise.reject(down))));
      expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
      expect(error.cause).toBe(down);
      expect(error.message).toMatch(/^(n|lock): the backend is unavailable: connect ECONNREFUSED$/);
    });

    it('rejects likewise after a synchronous throw, or a rejection without an error', async () => {
      const throwing = lockWith(() => {
        throw new TypeError();
      });
      await expect(call(throwing)).rejects.toThrow('the backend is unavailable: TypeError');
      await expect(call(lockWith(() => Promise.reject('closed')))).rejects.toThrow('unavailable: closed');
    });

    it('rejects at the timeout when the backend hangs', async () => {
      const error = await rejectionOf<Error>(call(lockWith(() => new Promise(() => {}))));
      expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
      expect(error.cause).toMatchObject({ code: 'ETIMEDOUT' });
      expect(error.message).toContain('no answer within 20 ms');
    });
  });

  it.each<[string, Partial<LockRow>]>([
    ['token', { token: 0.5 }],
    ['token', { token: 2 ** 53 }],
    ['leaseLeft', { leaseLeft: Infinity }],
    ['holdLeft', { state: 'done', holdLeft: Number.NaN }],
    ['acquiredAgo', { acquiredAgo: Number.NaN }],
    ['finishedAgo', { state: 'done', finishedAgo: Number.NEGATIVE_INFINITY }],
    ['now', { now: Number.NaN }],
  ])('a row with an edited %s is an error, not an answer: %o', async (field, row) => {
    expect(await rejectionOf<Error>(answerTo(row))).toMatchObject({
      code: 'BACKEND_DOWN',
      message: expect.stringContaining(field),
    });
  });

  it('an OPTION error of the backend passes unchanged', async () => {
    const broken = optionError([{ option: 'host', rule: 'must be short', received: 'long' }], {
      member: 'n',
    });
    await expect(CALLS.acquire?.(lockWith(() => Promise.reject(broken)))).rejects.toBe(broken);
  });
});

describe('createLock: answers', () => {
  const others = { owner: 'o', host: 'h', token: 7, now: ROW.now };
  const over = { leaseLeft: 0, holdLeft: 50, finishedAgo: 3 };
  it.each<[string, Partial<LockRow>, string, object]>([
    [
      'the own live lease',
      {},
      'r',
      {
        kind: 'acquired',
        lease: { name: 'n', owner: 'o', requestId: 'r', token: 7, remaining: 100 },
        tookOver: false,
        now: ROW.now,
      },
    ],
    [
      'a live lease of another request',
      {},
      'r2',
      { kind: 'held', retryAfter: 100, heldFor: 5, isBackoff: false, ...others },
    ],
    [
      'a done round',
      { state: 'done', ...over },
      'r',
      { kind: 'done', retryAfter: 50, finishedAgo: 3, ...others },
    ],
    [
      'a failed round',
      { state: 'failed', ...over },
      'r',
      { kind: 'held', retryAfter: 50, heldFor: 5, isBackoff: true, ...others },
    ],
  ])('%s', async (_, row, requestId, expected) => {
    expect(await answerTo(row, requestId)).toEqual(expected);
  });

  it.each<Partial<LockRow>>([
    { leaseLeft: 0 },
    { leaseLeft: -5 },
    { state: 'done', leaseLeft: 0, holdLeft: 0, finishedAgo: 3 },
    { state: 'failed', leaseLeft: -1, holdLeft: -1, finishedAgo: 3 },
    { state: 'abandoned', leaseLeft: 0, finishedAgo: 3 },
    { state: 'released', leaseLeft: 0, finishedAgo: 3 },
  ])('a row that has just changed is held for 10 ms, never for 0: %o', async (row) => {
    expect(await answerTo(row)).toMatchObject({ kind: 'held', retryAfter: 10 });
  });

  it('negative durations are 0', async () => {
    expect(await answerTo({ acquiredAgo: -3 }, 'r2')).toMatchObject({ heldFor: 0 });
    expect(await answerTo({ state: 'done', holdLeft: 5, finishedAgo: -3 })).toMatchObject({ finishedAgo: 0 });
    const lock = lockWith(async () => ({ ...ROW, leaseLeft: -1, holdLeft: -1 }));
    expect(await lock.inspect('n')).toMatchObject({ leaseLeft: 0, holdLeft: 0 });
  });

  it('a record shows neither the request id nor the clock', async () => {
    const { requestId: _, now: __, ...record } = ROW;
    expect(await lockWith(async () => ROW).inspect('n')).toEqual(record);
    expect(await lockWith(async () => undefined).inspect('n')).toBeUndefined();
  });

  it('list sorts by name', async () => {
    const names = ['b', 'a', 'B', 'ä', 'a1'];
    const lock = lockWith(async () => names.map((name) => ({ ...ROW, name })));
    expect((await lock.list()).map(({ name }) => name)).toEqual([...names].sort());
  });
});

describe('createLock: arguments of the backend', () => {
  it('are those of the caller, completed by the defaults', async () => {
    const calls: unknown[][] = [];
    const lock = lockWith(
      (...args) => {
        calls.push(args);
        return [];
      },
      { leaseFor: 5000 },
    );
    await lock.release(LEASE, { as: 'done', holdFor: 5, error: 'none' } as never);
    await lock.release(LEASE, { as: 'done', holdFor: 0, keepFor: 60_000 });
    await lock.release(LEASE, { as: 'failed', holdFor: 6, error: 'down', keepFor: 3 } as never);
    await lock.release(LEASE, { as: 'abandoned', holdFor: 7, error: 'none' } as never);
    await lock.list();
    await lock.list({ prefix: 'n', limit: 2 });
    await lock.extend(LEASE);
    await lock.extend(LEASE, 10);
    await lock.forceRelease('n', 7);
    expect(calls).toEqual([
      [LEASE, { state: 'done', holdFor: 5, error: undefined }],
      [LEASE, { state: 'done', holdFor: 0, keepFor: 60_000 }],
      [LEASE, { state: 'failed', holdFor: 6, error: 'down' }],
      [LEASE, { state: 'abandoned', holdFor: 0, error: undefined }],
      ['', 1000],
      ['n', 2],
      [LEASE, 5000],
      [LEASE, 10],
      ['n', 7],
    ]);
  });

  it('an acquire is by default a new request of this process', async () => {
    const requests: { requestId: string }[] = [];
    const lock = lockWith(
      (request) => {
        requests.push(request);
        return ROW;
      },
      { leaseFor: 5000 },
    );
    const defaults = {
      name: 'n',
      owner: thisProcess(),
      requestId: expect.any(String),
      leaseFor: 5000,
      host: thisHost(),
      force: false,
    };
    const given = { name: 'n', owner: 'o', requestId: 'r', leaseFor: 10, host: 'h', force: true };
    await lock.acquire({ name: 'n' });
    await lock.acquire({ name: 'n' });
    await lock.acquire(given);
    expect(requests).toEqual([defaults, defaults, given]);
    expect(requests[0]?.requestId).not.toBe(requests[1]?.requestId);
  });
});

describe('createLock: options', () => {
  it('take durations of any kind, and have defaults', () => {
    expect(lockOf(memoryBackend({ leaseFor: { minutes: 1 }, timeout: { seconds: 1 } })).leaseFor).toBe(
      60_000,
    );
    expect(lockOf(memoryBackend({ leaseFor: undefined })).leaseFor).toBe(30_000);
    expect(lockWith(() => ROW, undefined as never).leaseFor).toBe(30_000);
  });

  it.each([
    [{ leaseFor: 0 }, 'leaseFor'],
    [{ leaseFor: Infinity }, 'leaseFor'],
    [{ leaseFor: Number.MAX_SAFE_INTEGER }, 'leaseFor'],
    [{ leaseFor: '30 parsecs' }, 'leaseFor'],
    [{ timeout: 0 }, 'timeout'],
    [{ timeout: Infinity }, 'timeout'],
    [{ lease: 5 }, 'lease'],
  ])('rejects %o', (options, option) => {
    expect(thrownBy(() => lockWith(() => ROW, options))).toMatchObject(ofOption(option));
  });
});

describe('createLock: an invalid argument is an OPTION error, and never reaches the backend', () => {
  it.each<[string, (lock: Lock) => Promise<unknown>, RegExp]>([
    ['an empty name', (lock) => lock.inspect(''), /^lock: name must be a string/],
    ['a name that is not text', (lock) => lock.acquire({ name: 5 as never }), /^lock: name must be a string/],
    ['a name with U+0000', (lock) => lock.inspect('a\0b'), /^a\\u0000b: name must not contain U\+0000/],
    ['half a surrogate pair', (lock) => lock.inspect('a\ud800'), /name must be well-formed Unicode/],
    ['a name too long', (lock) => lock.inspect('x'.repeat(21)), /^x+: name must be at most 20 bytes/],
    [
      'too many bytes',
      (lock) => lock.acquire({ name: 'é'.repeat(11) }),
      /^é+: name must be at most 20 bytes/,
    ],
    ['an empty owner', (lock) => lock.acquire({ name: 'n', owner: '' }), /^n: owner must be a string/],
    ['an empty request', (lock) => lock.acquire({ name: 'n', requestId: '' }), /^n: requestId must be a str/],
    ['a lease of 0 ms', (lock) => lock.acquire({ name: 'n', leaseFor: 0 }), /^n: leaseFor must be/],
    [
      'a lease of 285,000 years',
      (lock) => lock.extend(LEASE, 2 ** 53 - 1),
      /^n: leaseFor must not be longer than 365 d/,
    ],
    ['an endless lease', (lock) => lock.extend(LEASE, Infinity), /^n: leaseFor must be/],
    ['no outcome', (lock) => lock.release(LEASE, undefined as never), /^n: as must be .*holdFor must be/],
    ['the outcome running', (lock) => lock.release(LEASE, { as: 'running' } as never), /^n: as must be/],
    ['a negative hold', (lock) => lock.release(LEASE, { as: 'done', holdFor: -1 }), /^n: holdFor must be/],
    ['a fraction as token', (lock) => lock.forceRelease('n', 0.5), /^n: token must be a token/],
    ['a number as prefix', (lock) => lock.list({ prefix: 5 as never }), /^lock: prefix must be a string/],
    ['a limit of 0', (lock) => lock.list({ limit: 0 }), /^lock: limit must be/],
  ])('%s', async (_, call, message) => {
    let calls = 0;
    expect(await rejectionOf<Error>(call(lockWith(async () => ++calls)))).toMatchObject({
      code: 'OPTION',
      message: expect.stringMatching(message),
    });
    expect(calls).toBe(0);
  });

  it('a name of the longest length is valid', async () => {
    expect((await lockWith(() => ROW).acquire({ name: 'x'.repeat(20) })).kind).toBe('held');
  });
});
