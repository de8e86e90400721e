import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { isTicklessError } from '../../../src/errors.ts';
import { backendLockConformance, type DamagedField } from '../../support/lock-conformance/index.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { edit, folderOf, older, pathOf, type State, states } from '../files/record-files.ts';
import { leaseOf, rounds } from './file-rounds.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The record of `n`. */
const N = 'lock/n';

const DAMAGED: Record<DamagedField, object> = {
  token: { token: 2 ** 53 - 2 },
  leaseUntil: { until: 2 ** 53 - 2 },
  notBefore: { until: 2 ** 53 - 2 },
  state: { phase: 'abc' },
};

describe.concurrent('the lock of fileBackend: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const timeout = 20_000; // the cases read the same disk at once
  const occupied = join(directory, 'occupied');
  writeFileSync(occupied, '');
  const subject = {
    lock: () => lockOf(fileBackend({ directory, timeout })),
    other: () => lockOf(fileBackend({ directory, timeout })),
    unreachable: () => lockOf(fileBackend({ directory: occupied })),
    unit: 300, // a disk may be busy
    forget: (name: string) => rmSync(folderOf(directory, `lock/${name}`), { recursive: true }),
    damage: (name: string, field: DamagedField) =>
      edit(directory, `lock/${name}`, ({ record }) => ({ record: { ...record, ...DAMAGED[field] } })),
  };
  for (const { name, run } of backendLockConformance(subject)) it(name, run);
});

describe('the lock of fileBackend: the directory', () => {
  it('is created with its parents by the first acquire, not before', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b');
    const lock = lockOf(fileBackend({ directory }));
    expect(await lock.inspect('n')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.forceRelease('n', 5)).toBe(false);
    expect(await lock.release({ name: 'n', requestId: 'r', token: 5 }, { as: 'abandoned' })).toBe(false);
    expect(existsSync(directory)).toBe(false);
    await leaseOf(lock);
    expect(readdirSync(directory)).toEqual(['record-lock%2fn']);
  });

  it('may be a file: URL', async () => {
    const directory = temporaryDirectory();
    await leaseOf(lockOf(fileBackend({ directory: pathToFileURL(directory) })));
    expect((await lockOf(fileBackend({ directory })).acquire({ name: 'n' })).kind).toBe('held');
  });

  it('may contain other files and folders', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'record-lock%2fx'), 'a file');
    writeFileSync(join(directory, 'README'), '');
    mkdirSync(join(directory, 'record-lock%2fUPPER'));
    mkdirSync(join(directory, 'record-lock%2fempty'));
    mkdirSync(join(directory, 'record-snapshot%2fn'));
    const lock = lockOf(fileBackend({ directory }));
    await leaseOf(lock);
    rmSync(join(directory, 'record-lock%2fx'));
    expect((await lock.list()).map(({ name }) => name)).toEqual(['n']);
    writeFileSync(join(folderOf(directory, N), 'notes.json'), '');
    writeFileSync(join(folderOf(directory, N), '007.json'), '');
    writeFileSync(pathOf(directory, N, 9_007_199_254_740_991), '');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('held');
  });

  it('is named in the error if it is a file', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const error = await lockOf(fileBackend({ directory: file }))
      .acquire({ name: 'n' })
      .catch((rejected: unknown) => rejected as Error);
    expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
    expect((error as Error).message).toContain('the backend is unavailable: ENOTDIR: not a directory');
    expect((error as Error).message).toContain(file);
  });

  it('is named in the error if it can’t be created', async ({ skip }) => {
    skip(process.platform !== 'linux', 'needs the read-only /proc of Linux');
    await expect(lockOf(fileBackend({ directory: '/proc/tickless' })).acquire({ name: 'n' })).rejects.toThrow(
      /the backend is unavailable: ENOENT: no such file or directory, mkdir/,
    );
  });

  it.each<[string, object, string]>([
    ['none', {}, 'directory'],
    ['an empty one', { directory: '' }, 'directory'],
    ['a URL of another kind', { directory: new URL('https://example.com/') }, 'directory'],
    ['a number', { directory: 5 }, 'directory'],
    ['no retention', { directory: '/tmp/x', retention: 0 }, 'retention'],
    ['an unknown option', { directory: '/tmp/x', folder: 'x' }, 'folder'],
  ])('%s is an OPTION error', (_, options, option) => {
    expect(thrownBy(() => fileBackend(options as never))).toMatchObject(ofOption(option));
  });

  it('names that are too long for a folder are listed', async () => {
    const lock = lockOf(fileBackend({ directory: temporaryDirectory() }));
    const names = ['b', 'a', `a${'x'.repeat(5000)}`, `b${'é'.repeat(500)}`, 'c'];
    for (const name of names) await leaseOf(lock, name);
    expect((await lock.list()).map(({ name }) => name)).toEqual([...names].sort());
    expect((await lock.list({ prefix: 'a' })).map(({ name }) => name)).toEqual(['a', names[2]]);
    expect((await lock.list({ limit: 2 })).map(({ name }) => name)).toEqual(['a', names[2]]);
  });
});

describe('the lock of fileBackend: an unreadable state', () => {
  const field = (name: string, value: unknown): [string, (state: State) => object] => [
    `the field ${name} is ${JSON.stringify(value)}`,
    ({ record }) => ({ record: { ...record, [name]: value } }),
  ];
  it.each<[string, (state: State) => object | string]>([
    ['an empty file', () => ''],
    ['half a file', (state) => JSON.stringify(state).slice(0, 100)],
    ['another JSON', () => '[]'],
    ['null', () => 'null'],
    ['without a record', () => ({ record: undefined })],
    ['without a clock', () => ({ clock: undefined })],
    ['a number as name', () => ({ name: 5 })],
    ['of another name', () => ({ name: 'lock/m' })],
    field('token', '5'),
    field('phase', 'x'),
    field('phase', 5),
    field('id', 5),
    field('text', 5),
    field('text', { file: '../n', bytes: 1 }),
    field('note', 5),
    field('until', null),
    field('at', 'soon'),
    field('changedAt', 'soon'),
    field('older', 'none'),
    field('older', [5]),
    field('replaced', 5),
    field('keepMs', 'soon'),
  ])('%s: counts as absent, and the token grows all the same', async (_, change) => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    await rounds(lock, 3);
    const lease = await leaseOf(lock);
    edit(directory, N, change);
    expect(await lock.inspect('n')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.forceRelease('n', lease.token)).toBe(false);
    const next = await leaseOf(lock);
    expect(next.token).toBeGreaterThan(lease.token);
    expect(await lock.extend(next)).toBe(true);
  });

  it('the token exceeds those of the states before it, if the clock lags', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    const token = Date.now() * 1000 + DAY * 1000;
    await leaseOf(lock);
    edit(directory, N, ({ record }) => ({ record: { ...record, token } }));
    expect(await lock.forceRelease('n', token)).toBe(true);
    expect((await leaseOf(lock)).token).toBe(token + 1);
    edit(directory, N, () => '');
    expect((await leaseOf(lock)).token).toBeGreaterThan(token + 1);
  });

  it('a name without a readable state can be acquired', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    await rounds(lock, 3);
    for (const number of states(directory, N)) writeFileSync(pathOf(directory, N, number), 'x');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('acquired');
    expect((await lock.acquire({ name: 'n' })).kind).toBe('held');
  });
});

describe('the lock of fileBackend: time', () => {
  it('steps of the wall clock move neither leases nor holds', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    const lease = await leaseOf(lock, 'n', 60_000);
    const done = await leaseOf(lock, 'done');
    await lock.release(done, { as: 'done', holdFor: 60_000 });
    const real = Date.now;
    for (const step of [-DAY, DAY]) {
      const dateNow = vi.spyOn(Date, 'now').mockImplementation(() => real() + step);
      try {
        const other = lockOf(fileBackend({ directory }));
        expect((await other.inspect('n'))?.leaseLeft).toBeGreaterThan(50_000);
        expect(await other.acquire({ name: 'done' })).toMatchObject({ kind: 'done' });
        expect(await other.extend(lease, 60_000)).toBe(true);
      } finally {
        dateNow.mockRestore();
      }
    }
    expect((await lock.inspect('n'))?.leaseLeft).toBeLessThanOrEqual(60_000);
  });

  it('a reboot ends the lease', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    const lease = await leaseOf(lock, 'n', HOUR);
    edit(directory, N, ({ wall }) => ({ boot: 'another', wall: wall - 1000 }));
    const { token } = lease;
    expect(await lock.inspect('n')).toMatchObject({
      state: 'running',
      leaseLeft: 0,
      token,
      finishedAgo: undefined,
    });
    expect((await lock.inspect('n'))?.acquiredAgo).toBeGreaterThanOrEqual(1000);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired', tookOver: true });
  });

  /** Moves the instants of the state by a while, on the clock that it names. */
  const movedBy = (ms: number, change: object) => (state: State) => ({
    ...{ ...older(-ms)(state), wall: state.wall, ...change },
  });

  it('a hold continues over a reboot, by the wall clock', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    await lock.release(await leaseOf(lock), { as: 'done', holdFor: HOUR });
    const before = states(directory, N).length;
    for (const [down, left] of [
      [0, HOUR],
      [HOUR / 2, HOUR / 2],
    ] as const) {
      edit(directory, N, ({ wall }) => ({ boot: 'another', wall: wall - down }));
      const answer = await lock.acquire({ name: 'n' });
      if (answer.kind !== 'done') throw new Error(answer.kind);
      expect(answer.retryAfter).toBeGreaterThan(left - 60_000);
      expect(answer.retryAfter).toBeLessThanOrEqual(left);
      expect(answer.finishedAgo).toBeGreaterThanOrEqual(down);
    }
    expect(states(directory, N).length).toBe(before);
    edit(directory, N, ({ wall }) => ({ wall: wall - HOUR }));
    expect(await lock.acquire({ name: 'n' })).toMatchObject({ kind: 'acquired', tookOver: false });
  });

  it('a wall clock set back by a reboot does not lengthen a hold', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    await lock.release(await leaseOf(lock), { as: 'failed', holdFor: 60_000 });
    edit(directory, N, ({ wall }) => ({ boot: 'another', wall: wall + DAY }));
    const answer = await lock.acquire({ name: 'n' });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    expect(answer.retryAfter).toBeLessThanOrEqual(60_000);
  });

  it('another runtime with another clock respects a lease', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory }));
    await leaseOf(lock, 'n', 60_000);
    edit(directory, N, movedBy(DAY, { clock: 'uptime' }));
    const answer = await lock.acquire({ name: 'n' });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    expect(answer.retryAfter).toBeGreaterThan(50_000);
    expect(answer.retryAfter).toBeLessThanOrEqual(60_000);
  });
});

describe('the lock of fileBackend: retention', () => {
  /** Makes the last use of the names older. */
  function age(directory: string, names: readonly string[], by: number): void {
    for (const name of names) edit(directory, `lock/${name}`, older(by));
  }

  it('deletes unused names in small steps behind the use of others', async () => {
    const directory = temporaryDirectory();
    const setup = lockOf(fileBackend({ directory, retention: Infinity }));
    await rounds(setup, 3, 'done');
    await leaseOf(setup, 'expired');
    await setup.release(await leaseOf(setup, 'held'), { as: 'done', holdFor: 30 * DAY });
    await rounds(setup, 1, 'recent');
    mkdirSync(join(directory, 'record-lock%2fempty'));
    age(directory, ['done', 'expired', 'held'], 8 * DAY);
    age(directory, ['recent'], 6 * DAY);
    const lock = lockOf(fileBackend({ directory }));
    await vi.waitFor(async () => {
      await rounds(lock, 1);
      expect(readdirSync(directory).sort()).toEqual([
        'record-lock%2fempty',
        'record-lock%2fheld',
        'record-lock%2fn',
        'record-lock%2frecent',
      ]);
    });
    expect((await lock.list()).map(({ name }) => name)).toEqual(['held', 'n', 'recent']);
    expect((await leaseOf(lock, 'done')).token).toBeGreaterThan(Date.now() * 999);
  });

  it.each([7 * DAY, Infinity])('a keepFor ends it sooner, of that round: retention %d', async (retention) => {
    const directory = temporaryDirectory();
    const setup = lockOf(fileBackend({ directory, retention: Infinity }));
    const brief = { as: 'done', holdFor: 0, keepFor: HOUR } as const;
    const names = ['absent', 'held', 'later', 'present', 'running'];
    for (const name of names) {
      await setup.release(await leaseOf(setup, name), name === 'held' ? { ...brief, holdFor: DAY } : brief);
    }
    await rounds(setup, 1, 'present');
    await leaseOf(setup, 'running', DAY);
    const lock = lockOf(fileBackend({ directory, retention }));
    age(directory, ['absent', 'held', 'present', 'running'], 2 * HOUR);
    await vi.waitFor(async () => {
      await lock.release(await leaseOf(lock), brief);
      expect((await lock.list()).map(({ name }) => name)).toEqual([
        'held',
        'later',
        'n',
        'present',
        'running',
      ]);
      expect(readdirSync(directory)).not.toContain('record-lock%2fabsent');
    });
  });
});

describe('the lock of fileBackend: a list of more names than are read at a time', () => {
  const numbers = Array.from({ length: 40 }, (_, i) => `${i}`.padStart(2, '0'));

  it('begins with the first names, also if most are only in their files', async () => {
    const lock = lockOf(fileBackend({ directory: temporaryDirectory(), timeout: 60_000 }));
    const short = numbers.slice(0, 10).map((number) => `a${number}`);
    const tooLongForFolders = numbers.map((number) => `z${number}${'x'.repeat(500)}`);
    const names = [...short, ...tooLongForFolders].reverse();
    await Promise.all(names.map((name) => lock.acquire({ name })));
    const listed = async (limit: number) => (await lock.list({ limit })).map(({ name }) => name);
    expect(await listed(5)).toEqual(short.slice(0, 5));
    expect(await listed(11)).toEqual([...short, tooLongForFolders[0]]);
    expect(await listed(1000)).toEqual([...short, ...tooLongForFolders]);
  });

  it('begins with the first names, whatever the order of their folders', async () => {
    const lock = lockOf(fileBackend({ directory: temporaryDirectory(), timeout: 60_000 }));
    const names = numbers.flatMap((number) => [`Z${number}`, `0${number}`]); // a capital sorts as `%`, before digits
    await Promise.all(names.map((name) => lock.acquire({ name })));
    expect((await lock.list({ limit: 3 })).map(({ name }) => name)).toEqual(['000', '001', '002']);
  });
});

describe('the lock of fileBackend: power failures', () => {
  it('lose no state with a lease: it is on the disk before it appears under its number', async () => {
    const directory = temporaryDirectory();
    const lock = lockOf(fileBackend({ directory, retention: Infinity }));
    const last = (): number =>
      existsSync(folderOf(directory, N)) ? (states(directory, N).at(-1) ?? -1) : -1;
    const handle = await open(import.meta.filename);
    await handle.close();
    const prototype: FileHandle = Object.getPrototypeOf(handle);
    const { datasync } = prototype;
    const syncs: number[] = []; // the highest number at the time of each
    const spy = vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: FileHandle) {
      syncs.push(last());
      await datasync.call(this);
    });
    try {
      const lease = await leaseOf(lock);
      expect([syncs.splice(0), last()]).toEqual([[0], 1]);
      expect(await lock.extend(lease)).toBe(true);
      expect([syncs.splice(0), last()]).toEqual([[1], 2]);
      expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
      expect([syncs.splice(0), last()]).toEqual([[], 3]);
      const next = await leaseOf(lock);
      expect([syncs.splice(0), last()]).toEqual([[3], 4]);
      await lock.forceRelease('n', next.token);
      expect([syncs.splice(0), last()]).toEqual([[], 5]);
    } finally {
      spy.mockRestore();
    }
  });
});
