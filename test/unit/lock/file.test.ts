import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import { isLockUnavailableError, isOptionError } from '../../../src/errors.ts';
import { fileLock } from '../../../src/lock/file.ts';
import { lockConformance } from '../../../src/testing/index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe.concurrent('fileLock: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const occupied = join(directory, 'occupied');
  writeFileSync(occupied, '');
  const subject = {
    lock: () => fileLock({ directory }),
    other: () => fileLock({ directory }),
    unreachable: () => fileLock({ directory: occupied }),
    unit: 300, // a disk may be busy
    forget: (name: string) => rmSync(join(directory, `lock-${name}`), { recursive: true }),
  };
  for (const { name, run } of lockConformance(subject)) it(name, run);
});

type Lock = ReturnType<typeof fileLock>;

async function leaseOf(lock: Lock, name = 'n', leaseFor?: number): Promise<Lease> {
  const answer = await lock.acquire({ name, ...(leaseFor === undefined ? {} : { leaseFor }) });
  if (answer.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(answer)}`);
  return answer.lease;
}

async function rounds(lock: Lock, count: number, name = 'n'): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await lock.release(await leaseOf(lock, name), { as: 'done', holdFor: 0 });
  }
}

/** The numbers of the states of a name. */
function states(directory: string, name = 'n'): number[] {
  return readdirSync(join(directory, `lock-${name}`))
    .filter((file) => file.endsWith('.json'))
    .map((file) => Number.parseInt(file, 10))
    .sort((a, b) => a - b);
}

function pathOf(directory: string, number: number): string {
  return join(directory, 'lock-n', `${number}.json`);
}

/** Changes the present state by hand. */
function edit(directory: string, change: (state: Written) => object): void {
  const path = pathOf(directory, Math.max(...states(directory)));
  const state = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...state, ...change(state) }));
}

interface Written {
  readonly at: number;
  readonly wall: number;
  readonly boot: string;
  readonly record: Record<string, unknown> & { readonly token: number; readonly leaseUntil: number };
}

describe('fileLock: the directory', () => {
  it('is made at the first use, not before, with those above it', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b');
    const lock = fileLock({ directory });
    expect(await lock.inspect('n')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.forceRelease('n', 5)).toBe(false);
    expect(await lock.release({ name: 'n', requestId: 'r', token: 5 }, { as: 'abandoned' })).toBe(false);
    expect(existsSync(directory)).toBe(false);
    await leaseOf(lock);
    expect(readdirSync(directory)).toEqual(['lock-n']);
  });

  it('may be a file: URL', async () => {
    const directory = temporaryDirectory();
    await leaseOf(fileLock({ directory: pathToFileURL(directory) }));
    expect((await fileLock({ directory }).acquire({ name: 'n' })).kind).toBe('held');
  });

  it('may have other things in it', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'lock-x'), 'a file');
    writeFileSync(join(directory, 'README'), '');
    mkdirSync(join(directory, 'lock-UPPER'));
    mkdirSync(join(directory, 'lock-empty'));
    mkdirSync(join(directory, 'snapshot-n'));
    const lock = fileLock({ directory });
    await leaseOf(lock);
    rmSync(join(directory, 'lock-x'));
    expect((await lock.list()).map(({ name }) => name)).toEqual(['n']);
    writeFileSync(join(directory, 'lock-n', 'notes.json'), '');
    writeFileSync(join(directory, 'lock-n', '007.json'), '');
    writeFileSync(pathOf(directory, 9_007_199_254_740_991), '');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('held');
  });

  it('that is a file is told as such', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const error = await fileLock({ directory: file })
      .acquire({ name: 'n' })
      .catch((rejected: unknown) => rejected as Error);
    expect(isLockUnavailableError(error)).toBe(true);
    expect((error as Error).message).toContain('the lock is unavailable: ENOTDIR: not a directory');
    expect((error as Error).message).toContain(file);
  });

  it.runIf(process.platform === 'linux')('that can’t be made is told as such', async () => {
    await expect(fileLock({ directory: '/proc/tickless' }).acquire({ name: 'n' })).rejects.toThrow(
      /the lock is unavailable: ENOENT: no such file or directory, mkdir/,
    );
  });

  it.each<[string, object, string]>([
    ['none', {}, 'directory'],
    ['an empty one', { directory: '' }, 'directory'],
    ['a URL of another kind', { directory: new URL('https://example.com/') }, 'directory'],
    ['a number', { directory: 5 }, 'directory'],
    ['no retention', { directory: '/tmp/x', retention: 0 }, 'retention'],
    ['an option that there is not', { directory: '/tmp/x', folder: 'x' }, 'folder'],
  ])('%s is an OptionError', (_, options, option) => {
    let error: unknown;
    try {
      fileLock(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(isOptionError(error)).toBe(true);
    expect(error).toMatchObject({ option });
  });

  it('keeps the last states of a name only', async () => {
    const directory = temporaryDirectory();
    await rounds(fileLock({ directory }), 50);
    expect(states(directory)).toEqual(Array.from({ length: 16 }, (_, i) => 85 + i));
  });

  it('a temporary file of a process that was killed goes after a while', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await leaseOf(lock);
    const [old, recent] = ['old.tmp', 'recent.tmp'].map((file) => join(directory, 'lock-n', file));
    writeFileSync(String(old), '{');
    writeFileSync(String(recent), '{');
    utimesSync(String(old), new Date(), new Date(Date.now() - HOUR));
    await lock.forceRelease('n', (await lock.inspect('n'))?.token ?? 0);
    expect([old, recent].map((file) => existsSync(String(file)))).toEqual([false, true]);
  });

  it('names that are too long for a folder are listed too', async () => {
    const lock = fileLock({ directory: temporaryDirectory() });
    const names = ['b', 'a', `a${'x'.repeat(5000)}`, `b${'é'.repeat(500)}`, 'c'];
    for (const name of names) await leaseOf(lock, name);
    expect((await lock.list()).map(({ name }) => name)).toEqual([...names].sort());
    expect((await lock.list({ prefix: 'a' })).map(({ name }) => name)).toEqual(['a', names[2]]);
    expect((await lock.list({ limit: 2 })).map(({ name }) => name)).toEqual(['a', names[2]]);
  });
});

describe('fileLock: a state that can’t be read', () => {
  it.each<[string, (state: Written) => unknown]>([
    ['an empty file', () => ''],
    ['half a file', (state) => JSON.stringify(state).slice(0, 100)],
    ['another JSON', () => '[]'],
    ['null', () => 'null'],
    ['without a record', ({ record: _, ...state }) => state],
    ['with a token that is text', (state) => ({ ...state, record: { ...state.record, token: '5' } })],
    ['with a state that there is not', (state) => ({ ...state, record: { ...state.record, state: 'x' } })],
    ['with an end that is null', (state) => ({ ...state, record: { ...state.record, leaseUntil: null } })],
    [
      'without an end of a round that is done',
      (state) => ({ ...state, record: { ...state.record, state: 'done' } }),
    ],
    ['of no clock', (state) => ({ ...state, clock: undefined })],
  ])('%s: counts as none, and the token grows all the same', async (_, change) => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await rounds(lock, 3);
    const lease = await leaseOf(lock);
    const path = pathOf(directory, Math.max(...states(directory)));
    const content = change(JSON.parse(readFileSync(path, 'utf8')));
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    expect(await lock.inspect('n')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.forceRelease('n', lease.token)).toBe(false);
    const next = await leaseOf(lock);
    expect(next.token).toBeGreaterThan(lease.token);
    expect(await lock.extend(next)).toBe(true);
  });

  it('where the clock lags, the token exceeds that of the states before it', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    const token = Date.now() * 1000 + DAY * 1000;
    await leaseOf(lock);
    edit(directory, ({ record }) => ({ record: { ...record, token } }));
    expect(await lock.forceRelease('n', token)).toBe(true);
    expect((await leaseOf(lock)).token).toBe(token + 1);
    writeFileSync(pathOf(directory, Math.max(...states(directory))), '');
    expect((await leaseOf(lock)).token).toBeGreaterThan(token + 1);
  });

  it('no state of it can be read', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await rounds(lock, 3);
    for (const number of states(directory)) writeFileSync(pathOf(directory, number), 'x');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('acquired');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('held');
  });
});

describe('fileLock: time', () => {
  it('a wall clock that is stepped moves neither leases nor holds', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    const lease = await leaseOf(lock, 'n', 60_000);
    const done = await leaseOf(lock, 'done');
    await lock.release(done, { as: 'done', holdFor: 60_000 });
    const real = Date.now;
    for (const step of [-DAY, DAY]) {
      const dateNow = vi.spyOn(Date, 'now').mockImplementation(() => real() + step);
      try {
        const other = fileLock({ directory });
        expect((await other.inspect('n'))?.leaseLeft).toBeGreaterThan(50_000);
        expect(await other.acquire({ name: 'done' })).toMatchObject({ kind: 'done' });
        expect(await other.extend(lease, 60_000)).toBe(true);
      } finally {
        dateNow.mockRestore();
      }
    }
    expect((await lock.inspect('n'))?.leaseLeft).toBeLessThanOrEqual(60_000);
  });

  it('a restart of the machine ends the lease: who held it is gone', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    const lease = await leaseOf(lock, 'n', HOUR);
    edit(directory, ({ wall }) => ({ boot: 'another', wall: wall - 1000 }));
    expect(await lock.inspect('n')).toMatchObject({ state: 'running', leaseLeft: 0, token: lease.token });
    expect((await lock.inspect('n'))?.acquiredAgo).toBeGreaterThanOrEqual(1000);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired', tookOver: true });
  });

  it('also where the system does not name its starts, and the clock began anew', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await leaseOf(lock, 'n', HOUR);
    edit(directory, ({ at, record }) => ({
      boot: null,
      at: at + 30 * DAY,
      record: {
        ...record,
        acquiredAt: at + 30 * DAY,
        notBefore: at + 30 * DAY,
        leaseUntil: at + 30 * DAY + HOUR,
      },
    }));
    expect(await lock.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired', tookOver: true });
  });

  it('a hold goes on over a restart, by the wall clock', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await lock.release(await leaseOf(lock), { as: 'done', holdFor: HOUR });
    const before = states(directory).length;
    for (const [down, left] of [
      [0, HOUR],
      [HOUR / 2, HOUR / 2],
    ] as const) {
      edit(directory, ({ wall }) => ({ boot: 'another', wall: wall - down }));
      const answer = await lock.acquire({ name: 'n' });
      if (answer.kind !== 'done') throw new Error(answer.kind);
      expect(answer.retryAfter).toBeGreaterThan(left - 60_000);
      expect(answer.retryAfter).toBeLessThanOrEqual(left);
      expect(answer.finishedAgo).toBeGreaterThanOrEqual(down);
    }
    expect(states(directory).length).toBe(before);
    edit(directory, ({ wall }) => ({ wall: wall - HOUR }));
    expect(await lock.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired', tookOver: false });
  });

  it('a wall clock that went back over a restart does not lengthen a hold', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await lock.release(await leaseOf(lock), { as: 'failed', holdFor: 60_000 });
    edit(directory, ({ wall }) => ({ boot: 'another', wall: wall + DAY }));
    const answer = await lock.acquire({ name: 'n' });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    expect(answer.retryAfter).toBeLessThanOrEqual(60_000);
  });

  it('a process that goes by another clock, of another runtime, respects a lease', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await leaseOf(lock, 'n', 60_000);
    edit(directory, ({ at, record }) => ({
      clock: 'uptime',
      at: at + DAY,
      record: { ...record, acquiredAt: at + DAY, notBefore: at + DAY, leaseUntil: at + DAY + 60_000 },
    }));
    const answer = await lock.acquire({ name: 'n' });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    expect(answer.retryAfter).toBeGreaterThan(50_000);
    expect(answer.retryAfter).toBeLessThanOrEqual(60_000);
  });
});

describe('fileLock: retention', () => {
  /** As if the names had been used so long ago. */
  function age(directory: string, names: readonly string[], by: number): void {
    for (const name of names) {
      const folder = join(directory, `lock-${name}`);
      const path = join(folder, `${Math.max(...states(directory, name))}.json`);
      const state = JSON.parse(readFileSync(path, 'utf8'));
      const { leaseUntil, notBefore, acquiredAt, finishedAt } = state.record;
      Object.assign(state.record, {
        leaseUntil: leaseUntil - by,
        notBefore: notBefore - by,
        acquiredAt: acquiredAt - by,
        finishedAt: finishedAt === null ? null : finishedAt - by,
      });
      writeFileSync(path, JSON.stringify({ ...state, at: state.at - by, wall: state.wall - by }));
    }
  }

  it('a name that was not used for long is forgotten, in small steps behind the use of others', async () => {
    const directory = temporaryDirectory();
    const setup = fileLock({ directory, retention: Infinity });
    await rounds(setup, 3, 'done');
    await leaseOf(setup, 'expired');
    await setup.release(await leaseOf(setup, 'held'), { as: 'done', holdFor: 30 * DAY });
    await rounds(setup, 1, 'recent');
    mkdirSync(join(directory, 'lock-empty'));
    age(directory, ['done', 'expired', 'held'], 8 * DAY);
    age(directory, ['recent'], 6 * DAY);
    const lock = fileLock({ directory });
    await vi.waitFor(async () => {
      await rounds(lock, 1);
      expect(readdirSync(directory).sort()).toEqual(['lock-held', 'lock-n', 'lock-recent']);
    });
    expect((await lock.list()).map(({ name }) => name)).toEqual(['held', 'n', 'recent']);
    expect((await leaseOf(lock, 'done')).token).toBeGreaterThan(Date.now() * 999);
  });

  it('is as long as it is told', async () => {
    const directory = temporaryDirectory();
    await rounds(fileLock({ directory, retention: Infinity }), 1, 'old');
    age(directory, ['old'], 2 * HOUR);
    await rounds(fileLock({ directory, retention: { hours: 3 } }), 5);
    expect(readdirSync(directory).sort()).toEqual(['lock-n', 'lock-old']);
    const lock = fileLock({ directory, retention: { hours: 1 } });
    await vi.waitFor(async () => {
      await rounds(lock, 1);
      expect(readdirSync(directory)).toEqual(['lock-n']);
    });
  });
});
