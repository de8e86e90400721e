// A directory that holds files of others: nothing of theirs is deleted.
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fileLock } from '../../../src/lock/file.ts';
import { fileStore } from '../../../src/store/file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { rounds } from '../lock/file-rounds.ts';

const RETENTION_MS = 20;

/** Files and folders of others, whose names could be ours. They are a year old. */
function plant(directory: string): readonly string[] {
  const folders = ['snapshot-empty', 'lock-empty'];
  const files = [
    'snapshot-2026-11-20/upload.tmp',
    'snapshot-2026-11-20/4f7c1a52-7d43-4bb1-9d9b-0f8d2a1c3e55.tmp',
    'snapshot-2026-11-20/7.snapshot',
    'lock-files/yarn.lock.tmp',
    'lock-files/1.json',
  ];
  for (const folder of folders) mkdirSync(join(directory, folder));
  for (const file of files) {
    mkdirSync(join(directory, file, '..'), { recursive: true });
    writeFileSync(join(directory, file), 'of another program');
    utimesSync(join(directory, file), 0, Date.now() / 1000 - 31_536_000);
  }
  return [...folders, ...files];
}

it('the sweep deletes what has expired, and nothing of others', async () => {
  const directory = temporaryDirectory();
  const planted = plant(directory);
  const lock = fileLock({ directory, retention: RETENTION_MS });
  const store = fileStore({ directory, retention: RETENTION_MS });
  const setup = fileStore({ directory, retention: Infinity });
  await setup.write('old', 'payload');
  await rounds(fileLock({ directory, retention: Infinity }), 2, 'old');
  await new Promise((resolve) => setTimeout(resolve, 2 * RETENTION_MS));
  await vi.waitFor(async () => {
    await rounds(lock, 1);
    await store.write('n', 'payload');
    expect(existsSync(join(directory, 'lock-old')) || existsSync(join(directory, 'snapshot-old'))).toBe(
      false,
    );
  });
  for (let i = 0; i < 10; i += 1) {
    await rounds(lock, 1);
    await store.write('n', 'payload');
  }
  expect(planted.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
});

it('a name that leads to the folder of others leaves their files alone', async () => {
  const directory = temporaryDirectory();
  const planted = plant(directory).filter((path) => !/\d\.(json|snapshot)$/.test(path));
  await rounds(fileLock({ directory }), 20, 'files');
  const store = fileStore({ directory });
  await store.write('2026-11-20', 'payload');
  await store.write('2026-11-20', 'next');
  await store.delete('2026-11-20');
  expect(planted.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
  expect(readFileSync(join(directory, 'lock-files', 'yarn.lock.tmp'), 'utf8')).toBe('of another program');
  expect(readdirSync(join(directory, 'snapshot-2026-11-20')).length).toBeGreaterThan(1);
});
