// What of Windows a file system here can be made to do: names without case, files that are in use, folders that can't be opened.
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { backendLockConformance } from '../../support/lock-conformance/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { storeConformance } from '../../support/store-conformance.ts';
import { leaseOf } from '../lock/file-rounds.ts';
import { texts } from './record-files.ts';

/** How often each step was refused. */
const refused = vi.hoisted(() => new Map<string, number>());

vi.mock('node:process', async (original) => {
  const real = await original<Record<string, unknown>>();
  const windows = { platform: 'win32', geteuid: undefined };
  return { ...real, ...windows, default: { ...(real.default as object), ...windows } };
});

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const base = /^(.*\/tickless-win-[^/]+)(.*)$/;
  /** Without case, below the directory of a test. */
  const plain = (path: unknown): string => {
    const [, directory = '', rest = ''] = base.exec(String(path)) ?? [];
    return directory === '' ? String(path) : directory + rest.toLowerCase();
  };
  const readers = new Map<string, number>();
  const change = (path: string, by: number) => readers.set(path, (readers.get(path) ?? 0) + by);
  const seen = new Set<string>();
  /** Reads each file that has appeared, for a while. */
  const scan = (path: string): void => {
    change(path, 1);
    setTimeout(() => change(path, -1), 12);
  };
  const refuse = (step: string, path: string): void => {
    if ((readers.get(path) ?? 0) === 0) return;
    refused.set(step, (refused.get(step) ?? 0) + 1);
    throw Object.assign(new Error(`EPERM: operation not permitted, ${step} '${path}'`), { code: 'EPERM' });
  };
  return {
    ...real,
    lstat: (path: string) => real.lstat(plain(path)),
    mkdir: (path: string, mode: number) => real.mkdir(plain(path), mode),
    readdir: (path: string, options: never) => real.readdir(plain(path), options),
    rmdir: (path: string) => real.rmdir(plain(path)),
    link: async (from: string, to: string) => {
      await real.link(plain(from), plain(to));
      scan(plain(to));
    },
    rename: async (from: string, to: string) => {
      refuse('rename', plain(from));
      refuse('rename', plain(to));
      await real.rename(plain(from), plain(to));
      scan(plain(to));
    },
    unlink: async (path: string) => {
      refuse('unlink', plain(path));
      await real.unlink(plain(path));
    },
    open: async (given: string, ...rest: [never, never]) => {
      const path = plain(given);
      const file = await real.open(path, ...rest);
      if ((await file.stat()).isDirectory()) {
        await file.close();
        throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${path}'`), {
          code: 'EISDIR',
        });
      }
      const isTemporary = path.endsWith('.tmp');
      if (!isTemporary && !seen.has(path)) scan(path);
      seen.add(path);
      change(path, 1);
      const close = file.close.bind(file);
      file.close = () => {
        change(path, -1);
        return close();
      };
      return file;
    },
  };
});

const directory = mkdtempSync(join(tmpdir(), 'tickless-win-'));
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => refused.clear());

const TOKEN = 1_795_000_000_000_000;

describe.concurrent('the file adapters as on Windows', () => {
  const timeout = 20_000; // the cases read the same disk at once
  const lock = () => lockOf(fileBackend({ directory, timeout }));
  const store = () => storeOf(fileBackend({ directory, timeout, keepVersions: 3 }));
  for (const { name, run } of backendLockConformance({ lock, other: lock, unit: 300 })) it(name, run);
  const kept = storeConformance({ store, other: store, keepVersions: 3 });
  for (const { name, run } of kept) it(name, run);
});

it('two names that differ in case are two names', async () => {
  const lock = lockOf(fileBackend({ directory }));
  await leaseOf(lock, 'Rates');
  expect((await lock.acquire({ name: 'rates' })).kind).toBe('acquired');
});

it('a file that another process reads is deleted when it is done', async () => {
  const store = storeOf(fileBackend({ directory }));
  await store.write('w', 'x'.repeat(4000), TOKEN);
  const [path = ''] = texts(directory, 'snapshot/w');
  const reader = await open(path, 'r');
  refused.clear();
  const written = store.write('w', 'two', TOKEN + 1);
  await vi.waitFor(() => expect(refused.get('unlink')).toBeGreaterThan(0), { timeout: 10_000, interval: 2 });
  expect(texts(directory, 'snapshot/w')).toEqual([path]);
  await reader.close();
  await written;
  expect((await store.read('w'))?.payload).toBe('two');
  expect(texts(directory, 'snapshot/w')).toEqual([]);
});
