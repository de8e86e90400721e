// Who may read, write and choose the files of a lock and a store.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { leaseOf } from '../lock/file-rounds.ts';
import { folderOf, pathOf, texts } from './record-files.ts';

const isRoot = process.getuid?.() === 0;
const ANOTHER_USER = 12_345;

/** The permissions of all files and folders in a directory. */
function modesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map((path) => {
    const { mode } = lstatSync(join(directory, String(path)));
    return (mode & 0o777).toString(8);
  });
}

it('folders and files are for their owner only', async () => {
  const directory = join(temporaryDirectory(), 'a', 'b');
  await leaseOf(lockOf(fileBackend({ directory })));
  await storeOf(fileBackend({ directory })).write('n', 'payload');
  const modes = modesIn(join(directory, '..', '..'));
  expect([...new Set(modes)].sort()).toEqual(['600', '700']);
});

it('with allowOtherUsers the umask decides', async () => {
  const directory = join(temporaryDirectory(), 'a');
  const before = process.umask(0o002);
  try {
    await storeOf(fileBackend({ directory, allowOtherUsers: true })).write('n', 'payload');
  } finally {
    process.umask(before);
  }
  expect([...new Set(modesIn(join(directory, '..')))].sort()).toEqual(['664', '775']);
});

describe('a directory that another user can fill', () => {
  const cases: [string, boolean, (directory: string) => void, RegExp][] = [
    ['writable by all', true, (directory) => chmodSync(directory, 0o777), /other users can write to/],
    [
      'writable by all, sticky',
      true,
      (directory) => chmodSync(directory, 0o1777),
      /other users can write to/,
    ],
    ['writable by a group', true, (directory) => chmodSync(directory, 0o770), /other users can write to/],
    [
      'of another user',
      isRoot,
      (directory) => chownSync(directory, ANOTHER_USER, 0),
      /belongs to user 12345/,
    ],
  ];
  it.each(cases)('%s: is refused', async (_, isPossible, make, reason) => {
    if (!isPossible) return;
    const directory = join(temporaryDirectory(), 'shared');
    mkdirSync(directory, 0o700);
    make(directory);
    for (const ask of [
      () => storeOf(fileBackend({ directory })).read('n'),
      () => storeOf(fileBackend({ directory })).write('n', 'payload'),
      () => storeOf(fileBackend({ directory })).delete('n'),
      () => lockOf(fileBackend({ directory })).acquire({ name: 'n' }),
      () => lockOf(fileBackend({ directory })).inspect('n'),
      () => lockOf(fileBackend({ directory })).list(),
    ]) {
      const error = await ask().then(
        () => undefined,
        (rejected: unknown) => rejected as Error,
      );
      expect(error?.message).toMatch(reason);
      expect(error?.message).toContain('allowOtherUsers');
    }
    expect(readdirSync(directory)).toEqual([]);
    const store = storeOf(fileBackend({ directory, allowOtherUsers: true }));
    await store.write('n', 'payload');
    expect((await store.read('n'))?.payload).toBe('payload');
    expect(
      (await lockOf(fileBackend({ directory, allowOtherUsers: true })).acquire({ name: 'n' })).kind,
    ).toBe('acquired');
  });

  it('a file of another user is not believed', async ({ skip }) => {
    skip(!isRoot, 'needs the right to give a file away');
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'planted', 5);
    chownSync(pathOf(directory, 'snapshot/n'), ANOTHER_USER, 0);
    expect(await store.read('n')).toMatchObject({ payload: '', damage: expect.any(String) });
    expect((await storeOf(fileBackend({ directory, allowOtherUsers: true })).read('n'))?.payload).toBe(
      'planted',
    );
    expect(await store.write('n', 'own', 4)).toEqual({ kind: 'written', version: 4 });
    await store.write('n', 'x'.repeat(4000), 5);
    chownSync(String(texts(directory, 'snapshot/n')[0]), ANOTHER_USER, 0);
    expect(await store.read('n')).toMatchObject({ payload: '', damage: expect.any(String) });
  });

  it('nor is the folder of a name that belongs to another user', async ({ skip }) => {
    skip(!isRoot, 'needs the right to give a folder away');
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'planted');
    chownSync(folderOf(directory, 'snapshot/n'), ANOTHER_USER, 0);
    await expect(store.read('n')).rejects.toThrow(/record-snapshot%2fn' belongs to user 12345/);
    await expect(store.write('n', 'own')).rejects.toThrow(/record-snapshot%2fn' belongs to user 12345/);
  });
});

describe('a link', () => {
  it('as the directory is not followed', async () => {
    const [target, place] = [temporaryDirectory(), temporaryDirectory()];
    const directory = join(place, 'link');
    symlinkSync(target, directory);
    for (const allowOtherUsers of [false, true]) {
      const store = storeOf(fileBackend({ directory, allowOtherUsers }));
      await expect(store.read('n')).rejects.toThrow(/is a link/);
      await expect(store.write('n', 'payload')).rejects.toThrow(/is a link/);
    }
    expect(readdirSync(target)).toEqual([]);
  });

  it('as the folder of a name is not followed', async () => {
    const [target, directory] = [temporaryDirectory(), temporaryDirectory()];
    await storeOf(fileBackend({ directory: target })).write('n', 'planted');
    symlinkSync(folderOf(target, 'snapshot/n'), folderOf(directory, 'snapshot/n'));
    const store = storeOf(fileBackend({ directory }));
    await expect(store.read('n')).rejects.toThrow(/is a link/);
    await expect(store.write('n', 'own')).rejects.toThrow(/is a link/);
    symlinkSync(target, folderOf(directory, 'lock/n'));
    await expect(lockOf(fileBackend({ directory })).acquire({ name: 'n' })).rejects.toThrow(/is a link/);
    expect(await lockOf(fileBackend({ directory })).list()).toEqual([]);
    expect(readdirSync(target)).toEqual(['record-snapshot%2fn']);
  });

  it('as a file is not followed, and fences nothing', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'planted', 5);
    symlinkSync(pathOf(directory, 'snapshot/n'), pathOf(directory, 'snapshot/n', 9));
    expect(await store.read('n')).toMatchObject({ version: 0, payload: '', damage: expect.any(String) });
    expect(await store.write('n', 'x'.repeat(4000), 6)).toEqual({ kind: 'written', version: 6 });
    const [text = ''] = texts(directory, 'snapshot/n');
    renameSync(text, join(directory, 'elsewhere'));
    symlinkSync(join(directory, 'elsewhere'), text);
    expect(await store.read('n')).toMatchObject({ version: 6, payload: '', damage: expect.any(String) });
    expect(await store.write('n', 'own', 6)).toEqual({ kind: 'written', version: 6 });
    const lock = lockOf(fileBackend({ directory }));
    const { token } = await leaseOf(lock);
    symlinkSync(pathOf(directory, 'lock/n'), pathOf(directory, 'lock/n', 2));
    expect((await leaseOf(lock)).token).toBeGreaterThan(token);
  });
});

it('a file in the place of a folder is an error', async () => {
  const directory = temporaryDirectory();
  writeFileSync(folderOf(directory, 'snapshot/n'), '');
  await expect(storeOf(fileBackend({ directory })).read('n')).rejects.toThrow(
    /the backend is unavailable: .*snapshot%2fn/,
  );
});
