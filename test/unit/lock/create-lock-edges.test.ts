import { describe, expect, it } from 'vitest';
import { thisHost, thisProcess } from '../../../src/cluster/identity.ts';
import { OptionError } from '../../../src/errors.ts';
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
const KIND = { longestName: 20, options: [] };
const LEASE = { name: 'n', requestId: 'r', token: 7 };

function engineOf(step: (...args: never[]) => unknown): LockEngine {
  return {
    acquire: step,
    extend: step,
    release: step,
    find: step,
    list: step,
    forceRelease: step,
  } as unknown as LockEngine;
}

function lockOf(step: () => unknown): Lock {
  return createLock(engineOf(step), { timeout: 1000 }, KIND);
}

describe('between a lock and its engine', () => {
  it.each<[string, Partial<LockRow>]>([
    ['a token that is no whole number', { token: 0.5 }],
    ['a token beyond them', { token: 2 ** 53 }],
    ['leaseLeft', { leaseLeft: Infinity }],
    ['holdLeft', { holdLeft: Number.NaN }],
    ['acquiredAgo', { acquiredAgo: Number.NaN }],
    ['finishedAgo', { finishedAgo: Number.NEGATIVE_INFINITY }],
    ['now', { now: Number.NaN }],
  ])('a row that somebody has edited is no answer, and why is told: %s', async (what, row) => {
    const reason = what.startsWith('a token')
      ? /unavailable: .*token .*successor/
      : new RegExp(`by it, ${what} is`);
    await expect(lockOf(async () => ({ ...ROW, ...row })).acquire({ name: 'n' })).rejects.toThrow(reason);
  });

  it('tells the engine what it is asked for, and nothing that does not belong to it', async () => {
    const told: unknown[][] = [];
    const note = (...args: never[]) => {
      told.push(args);
      return [];
    };
    const lock = createLock(engineOf(note), {}, KIND);
    await lock.release(LEASE, { as: 'done', holdFor: 5, error: 'none' } as never);
    await lock.release(LEASE, { as: 'failed', holdFor: 6, error: 'down' });
    await lock.release(LEASE, { as: 'abandoned', holdFor: 7, error: 'none' } as never);
    await lock.list();
    await lock.list({ prefix: 'n', limit: 2 });
    await lock.extend(LEASE);
    await lock.forceRelease('n', 7);
    expect(told).toEqual([
      [LEASE, { state: 'done', holdFor: 5, error: undefined }],
      [LEASE, { state: 'failed', holdFor: 6, error: 'down' }],
      [LEASE, { state: 'abandoned', holdFor: 0, error: undefined }],
      ['', 1000],
      ['n', 2],
      [LEASE, 30_000],
      ['n', 7],
    ]);
  });

  it('asks the engine for a lease for this process, as long as by the options, unless it is told otherwise', async () => {
    const told: unknown[] = [];
    const note = (request: never) => {
      told.push(request);
      return ROW;
    };
    const lock = createLock(engineOf(note), { leaseFor: 5000 }, KIND);
    const usual = {
      name: 'n',
      owner: thisProcess(),
      requestId: expect.any(String),
      leaseFor: 5000,
      host: thisHost(),
      force: false,
    };
    const given = { name: 'n', owner: 'o', requestId: 'r', leaseFor: 10, host: 'h', force: true };
    await lock.acquire({ name: 'n' });
    await lock.acquire(given);
    expect(told).toEqual([usual, given]);
  });

  it('tells of a rule that only the engine knows as of any other', async () => {
    const broken = new OptionError([{ option: 'host', rule: 'must be short', received: 'long' }], {
      cacheName: 'n',
    });
    await expect(lockOf(() => Promise.reject(broken)).acquire({ name: 'n' })).rejects.toBe(broken);
  });
});

describe('what breaks a rule is told with its name, the option and the rule', () => {
  it.each<[string, (lock: Lock) => Promise<unknown>, RegExp]>([
    ['no name', (lock) => lock.inspect(''), /^lock: name must be a string/],
    ['a name with U+0000', (lock) => lock.inspect('a\0b'), /^a\0b: name must not contain U\+0000/],
    ['a name too long', (lock) => lock.inspect('x'.repeat(21)), /^x+: name must be at most 20 bytes/],
    ['no owner', (lock) => lock.acquire({ name: 'n', owner: '' }), /^n: owner must be a string/],
    ['no request', (lock) => lock.acquire({ name: 'n', requestId: '' }), /^n: requestId must be a string/],
    ['no outcome', (lock) => lock.release(LEASE, undefined as never), /^n: as must be .*holdFor must be/],
    ['no token', (lock) => lock.forceRelease('n', 0.5), /^n: token must be a token/],
    ['no prefix', (lock) => lock.list({ prefix: 5 as never }), /^lock: prefix must be a string/],
    ['no limit', (lock) => lock.list({ limit: 0 }), /^lock: limit must be/],
  ])('%s', async (_, call, message) => {
    await expect(call(lockOf(() => ROW))).rejects.toThrow(message);
  });

  it('an option of the factory', () => {
    expect(() =>
      createLock(
        engineOf(() => ROW),
        { leaseFor: 0 },
        KIND,
      ),
    ).toThrow(/^lock: leaseFor must be/);
  });

  it('a name that is just not too long breaks none', async () => {
    expect((await lockOf(() => ROW).acquire({ name: 'x'.repeat(20) })).kind).toBe('held');
  });
});

describe('memoryLock', () => {
  it('lists the first names, where there are more than the limit', async () => {
    const lock = memoryLock();
    for (const name of ['c', 'b', 'a']) await lock.acquire({ name });
    expect((await lock.list({ limit: 2 })).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});
