// A directory that holds files of others: nothing of theirs is deleted.
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { rounds } from '../lock/file-rounds.ts';
import { edit, folderOf, older } from './record-files.ts';

const RETENTION_MS = 20;
const DAY = 86_400_000;

/** Files and folders of others, whose names could be ours. They are a year old. */
function plant(directory: string): readonly string[] {
  const folders = ['record-snapshot%2fempty', 'record-lock%2fempty', 'lock-empty'];
  const files = [
    'record-snapshot%2f2026-11-20/upload.tmp',
    'record-snapshot%2f2026-11-20/4f7c1a52-7d43-4bb1-9d9b-0f8d2a1c3e55.tmp',
    'record-snapshot%2f2026-11-20/readme.text',
    'record-snapshot%2f2026-11-20/7.json',
    'record-lock%2ffiles/yarn.lock.tmp',
    'record-lock%2ffiles/1.json',
    // of earlier versions of the library
    'snapshot-n/1795000000000000.snapshot',
    'lock-n/1.json',
    'report-%2fa/1.report',
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
  const lock = lockOf(fileBackend({ directory, retention: RETENTION_MS }));
  const store = storeOf(fileBackend({ directory, retention: RETENTION_MS }));
  const setup = storeOf(fileBackend({ directory, retention: Infinity }));
  await setup.write('old', 'payload');
  await rounds(lockOf(fileBackend({ directory, retention: Infinity })), 2, 'old');
  await new Promise((resolve) => setTimeout(resolve, 2 * RETENTION_MS));
  await vi.waitFor(async () => {
    await rounds(lock, 1);
    await store.write('n', 'payload');
    const old = ['lock/old', 'snapshot/old'].map((record) => existsSync(folderOf(directory, record)));
    expect(old).toEqual([false, false]);
  });
  for (let i = 0; i < 10; i += 1) {
    await rounds(lock, 1);
    await store.write('n', 'payload');
  }
  expect(planted.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
});

it('a name that leads to the folder of others leaves their files alone', async () => {
  const directory = temporaryDirectory();
  const planted = plant(directory).filter((path) => !/^record-.*\d\.json$/.test(path));
  await rounds(lockOf(fileBackend({ directory, timeout: 30_000 })), 20, 'files');
  const store = storeOf(fileBackend({ directory, timeout: 30_000 }));
  await store.write('2026-11-20', 'payload');
  await store.write('2026-11-20', 'next');
  await store.delete('2026-11-20');
  expect(planted.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
  expect(readFileSync(join(folderOf(directory, 'lock/files'), 'yarn.lock.tmp'), 'utf8')).toBe(
    'of another program',
  );
  expect(readdirSync(folderOf(directory, 'snapshot/2026-11-20')).length).toBeGreaterThan(1);
});

it.each(['a round', 'a write'])(
  'the sweep behind %s deletes the locks, values and reports that have expired, and no others',
  async (change) => {
    const directory = temporaryDirectory();
    const kinds = ['lock/', 'snapshot/', 'report//'];
    const setup = fileBackend({ directory, retention: Infinity });
    for (const name of ['old', 'fresh']) {
      await rounds(lockOf(setup), 1, name);
      await storeOf(setup).write(name, 'payload', 5);
      await storeOf(setup).versions([], { instance: name, text: '[]', keepFor: 2 * DAY });
    }
    for (const kind of kinds) edit(directory, `${kind}old`, older(DAY));
    const backend = fileBackend({ directory, retention: 60_000 });
    const isThere = (name: string) => kinds.map((kind) => existsSync(folderOf(directory, kind + name)));
    await vi.waitFor(async () => {
      if (change === 'a round') await rounds(lockOf(backend), 1);
      else await storeOf(backend).write('n', 'payload');
      expect(isThere('old')).toEqual([false, false, false]);
    });
    expect(isThere('fresh')).toEqual([true, true, true]);
  },
);
