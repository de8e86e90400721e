// What is in the place of a file, and a file system that does not answer.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { leaseOf } from '../lock/file-rounds.ts';
import { pathOf, texts } from './record-files.ts';

/** Operations of the file system that hang. */
let hung: (() => void)[];
let isHanging = false;

vi.mock('node:fs/promises', async (original) => {
  const real = await original<Record<string, (...args: unknown[]) => Promise<unknown>>>();
  const hanging = Object.entries(real).map(([step, act]) => {
    if (typeof act !== 'function') return [step, act];
    const answer = async (...args: unknown[]) => {
      if (isHanging) await new Promise<void>((resolve) => hung.push(resolve));
      return act(...args);
    };
    return [step, answer];
  });
  return Object.fromEntries(hanging);
});

beforeEach(() => {
  hung = [];
  isHanging = false;
});

describe('anything but a file of a sensible length', () => {
  const places: [string, (path: string) => void][] = [
    ['a FIFO', (path) => execFileSync('mkfifo', [path])],
    ['a folder', (path) => mkdirSync(path)],
    [
      'a file of a gigabyte',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 1_000_000_000);
      },
    ],
  ];
  it.each(places)('%s: is damage, and blocks neither reads nor writes', async (_, make) => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'payload', 5);
    const path = pathOf(directory, 'snapshot/n', 9);
    make(path);
    const damage = expect.stringContaining(`its file ${path} is damaged`) as unknown;
    expect(await store.read('n', 5)).toMatchObject({ version: 0, damage });
    expect(await store.write('n', 'x'.repeat(4000), 6)).toEqual({ kind: 'written', version: 6 });
    expect((await store.read('n'))?.version).toBe(6);
    const [text = ''] = texts(directory, 'snapshot/n');
    rmSync(text);
    make(text);
    expect(await store.read('n')).toMatchObject({ version: 6, damage: expect.stringContaining(text) });
    expect(await store.write('n', 'next', 6)).toEqual({ kind: 'written', version: 6 });
    const lock = lockOf(fileBackend({ directory }));
    const { token } = await leaseOf(lock);
    make(pathOf(directory, 'lock/n', 2));
    expect((await leaseOf(lock)).token).toBeGreaterThan(token);
  });

  it('is not written either', async () => {
    const store = storeOf(fileBackend({ directory: temporaryDirectory() }));
    await expect(store.write('n', 'x'.repeat(300_000_000))).rejects.toThrow(/longer than 268435456 bytes/);
  });
});

describe('a file system that does not answer', () => {
  it('keeps one thread, however often it is read, and no late read follows', async () => {
    const directory = temporaryDirectory();
    await storeOf(fileBackend({ directory, retention: Infinity })).write('n', 'payload');
    for (const [read, message] of [
      [(object) => object.store.read('n'), /the backend is unavailable/],
      [(object) => object.lock.acquire({ name: 'n' }), /the backend is unavailable/],
    ] as [(object: ReturnType<typeof objects>) => Promise<unknown>, RegExp][]) {
      const object = objects(directory);
      isHanging = true;
      hung = [];
      for (let round = 0; round < 3; round += 1) {
        const asked = Array.from({ length: 5 }, () => read(object));
        for (const one of asked) await expect(one).rejects.toThrow(message);
      }
      expect(hung).toHaveLength(1);
      await expect(read(object)).rejects.toThrow(/the file system has not answered a read for/);
      isHanging = false;
      for (const resolve of hung) resolve();
      await vi.waitFor(() => expect(read(object)).resolves.toBeDefined());
      expect(hung).toHaveLength(1);
    }
  });

  function objects(directory: string) {
    return {
      store: storeOf(fileBackend({ directory, timeout: 30 })),
      lock: lockOf(fileBackend({ directory, timeout: 30 })),
    };
  }
});
