import {
  existsSync,
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
import { isOptionError, isStoreUnavailableError } from '../../../src/errors.ts';
import { fileStore } from '../../../src/store/file.ts';
import { storeConformance } from '../../../src/testing/index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { OLD, RECENT } from '../../support/temporary-files.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe.concurrent('fileStore: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const timeout = 20_000; // the cases read the same disk at once
  const occupied = join(directory, 'occupied');
  writeFileSync(occupied, '');
  const subject = {
    store: () => fileStore({ directory, timeout }),
    other: () => fileStore({ directory, timeout }),
    unreachable: () => fileStore({ directory: occupied }),
    inNamespace: (namespace: string) => fileStore({ directory, timeout, namespace }),
    postdate: (name: string, ms: number) => {
      const version = Number.parseInt(filesIn(directory, name).at(-1) ?? '', 10);
      edit(directory, version, ({ at, wall }) => ({ at: at + ms, wall: wall + ms }), name);
    },
  };
  for (const { name, run } of storeConformance(subject)) it(name, run);

  const keepVersions = 3;
  const older = {
    ...{ ...subject, keepVersions },
    store: () => fileStore({ directory, timeout, keepVersions }),
    other: () => fileStore({ directory, timeout, keepVersions }),
  };
  for (const { name, run } of storeConformance(older)) it(`with keepVersions: ${name}`, run);
});

function filesIn(directory: string, name = 'n'): string[] {
  return readdirSync(join(directory, `snapshot-${name}`)).sort();
}

interface Header {
  readonly at: number;
  readonly wall: number;
  readonly boot: string | null;
  readonly length: number;
}

/** Edits the header of a snapshot. */
function edit(directory: string, version: number, change: (header: Header) => object, name = 'n'): void {
  const path = join(directory, `snapshot-${name}`, `${version}.snapshot`);
  const [header = '', ...payload] = readFileSync(path, 'utf8').split('\n');
  const known = JSON.parse(header);
  writeFileSync(path, [JSON.stringify({ ...known, ...change(known) }), ...payload].join('\n'));
}

describe('fileStore: the directory', () => {
  it('is created with its parents by the first write, not before', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b');
    const store = fileStore({ directory });
    expect(await store.read('n')).toBeUndefined();
    expect(await store.delete('n')).toBe(false);
    expect(existsSync(directory)).toBe(false);
    await store.write('n', 'payload', 5);
    expect(filesIn(directory)).toEqual(['5.snapshot']);
  });

  it('may be a file: URL', async () => {
    const directory = temporaryDirectory();
    await fileStore({ directory: pathToFileURL(directory) }).write('n', 'payload');
    expect((await fileStore({ directory }).read('n'))?.payload).toBe('payload');
  });

  it('has one file for each name, and none for what was deleted', async () => {
    const directory = temporaryDirectory();
    const store = fileStore({ directory });
    for (const token of [5, 7, 6, 9]) await store.write('n', `payload ${token}`, token);
    await store.write('m', 'payload');
    expect(filesIn(directory)).toEqual(['9.snapshot']);
    await store.delete('n');
    expect(readdirSync(directory)).toEqual(['snapshot-m']);
  });

  it('is named in the error if it is a file', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    for (const ask of [
      () => fileStore({ directory: file }).read('n'),
      () => fileStore({ directory: file }).write('n', 'payload', 5),
    ]) {
      const error = await ask().catch((rejected: unknown) => rejected as Error);
      expect(isStoreUnavailableError(error)).toBe(true);
      expect((error as Error).message).toContain('the store is unavailable: ENOTDIR: not a directory');
    }
  });

  it.each<[string, object, string]>([
    ['none', {}, 'directory'],
    ['a URL of another kind', { directory: new URL('https://example.com/') }, 'directory'],
    ['no retention', { directory: '/tmp/x', retention: 0 }, 'retention'],
    ['an unknown option', { directory: '/tmp/x', folder: 'x' }, 'folder'],
  ])('%s is an OptionError', (_, options, option) => {
    let error: unknown;
    try {
      fileStore(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(isOptionError(error)).toBe(true);
    expect(error).toMatchObject({ option });
  });

  it('deletes old temporary files', async () => {
    const directory = temporaryDirectory();
    const store = fileStore({ directory });
    await store.write('n', 'payload', 5);
    const [old, recent] = [OLD, RECENT].map((file) => join(directory, 'snapshot-n', file));
    writeFileSync(String(old), '{');
    writeFileSync(String(recent), '{');
    utimesSync(String(old), new Date(), new Date(Date.now() - HOUR));
    await store.write('n', 'payload', 6);
    expect(filesIn(directory)).toEqual(['6.snapshot', RECENT]);
  });
});

describe('fileStore: an unreadable snapshot', () => {
  it.each<[string, (text: string) => string]>([
    ['an empty file', () => ''],
    ['a truncated file', (text) => text.slice(0, -1)],
    ['a truncated header', (text) => text.slice(0, 20)],
    ['a longer file', (text) => `${text}x`],
    ['another text', () => 'payload'],
    ['a header of another kind', () => '{}\npayload'],
    ['a header that is null', () => 'null\npayload'],
  ])('%s: is damaged, and blocks no write', async (_, change) => {
    const directory = temporaryDirectory();
    const store = fileStore({ directory });
    await store.write('n', 'payload', 5);
    const path = join(directory, 'snapshot-n', '5.snapshot');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    expect(await store.read('n')).toEqual({
      version: 5,
      age: 0,
      payload: '',
      damage: `its file is damaged: version 5 in ${join(directory, 'snapshot-n')}`,
    });
    expect(await store.read('n', 5)).toBeUndefined();
    expect(await store.write('n', 'older', 4)).toEqual({ kind: 'written', version: 4 });
    expect(await store.read('n')).toMatchObject({ payload: 'older', version: 4 });
    expect(await store.write('n', 'oldest', 3)).toEqual({ kind: 'refused', version: 4 });
    expect(await store.write('n', 'newer', 6)).toEqual({ kind: 'written', version: 6 });
    expect(await store.read('n')).toMatchObject({ payload: 'newer', version: 6 });
    expect(filesIn(directory)).toEqual(['6.snapshot']);
  });

  it('with a version in the far future: later ones count all the same', async () => {
    const directory = temporaryDirectory();
    const store = fileStore({ directory });
    await store.write('n', 'payload', 5);
    for (const number of ['9007199254740991', '9000000000000000', '007', '5.5', '-1']) {
      writeFileSync(join(directory, 'snapshot-n', `${number}.snapshot`), 'x');
    }
    expect(await store.write('n', 'next', 6)).toEqual({ kind: 'written', version: 6 });
    expect(await store.read('n')).toMatchObject({ payload: 'next' });
    const { version } = await store.write('n', 'last');
    expect(Number.isSafeInteger(version)).toBe(true);
    expect(await store.read('n')).toMatchObject({ payload: 'last', version });
  });
});

// machine-clock.test.ts has the other pairs of clocks.
it.each<[string, (header: Header) => object]>([
  ['the machine’s time since boot', ({ at, wall }) => ({ at: at - HOUR, wall: wall + DAY })],
  ['the wall clock after a reboot', ({ at, wall }) => ({ boot: 'another', at: at + DAY, wall: wall - HOUR })],
])('fileStore: the age is measured by %s', async (_, change) => {
  const directory = temporaryDirectory();
  await fileStore({ directory }).write('n', 'payload', 5);
  edit(directory, 5, change);
  const { age = Number.NaN } = (await fileStore({ directory }).read('n')) ?? {};
  expect(age).toBeGreaterThanOrEqual(HOUR);
  expect(age).toBeLessThan(HOUR + 10_000);
});

describe('fileStore: retention', () => {
  it('deletes old snapshots in small steps behind other writes', async () => {
    const directory = temporaryDirectory();
    const setup = fileStore({ directory, retention: Infinity });
    for (const name of ['old', 'recent', 'torn']) await setup.write(name, 'payload', 5);
    const by = (ms: number) => (header: Header) => ({ at: header.at - ms, wall: header.wall - ms });
    edit(directory, 5, by(8 * DAY), 'old');
    edit(directory, 5, by(6 * DAY), 'recent');
    const store = fileStore({ directory });
    await vi.waitFor(async () => {
      await store.write('n', 'payload');
      expect(readdirSync(directory).sort()).toEqual(['snapshot-n', 'snapshot-recent', 'snapshot-torn']);
    });
    expect(await store.read('recent')).toMatchObject({ payload: 'payload', version: 5 });
  });

  it.each([7 * DAY, Infinity])(
    'a keepFor ends it sooner, of that snapshot: retention %d',
    async (retention) => {
      const directory = temporaryDirectory();
      const setup = fileStore({ directory, retention: Infinity });
      for (const name of ['absent', 'later', 'present']) await setup.write(name, '', 5, undefined, HOUR);
      const by = (ms: number) => (header: Header) => ({ at: header.at - ms, wall: header.wall - ms });
      for (const name of ['absent', 'present']) edit(directory, 5, by(2 * HOUR), name);
      await setup.write('present', 'payload', 6);
      edit(directory, 6, by(2 * HOUR), 'present');
      const store = fileStore({ directory, retention });
      await vi.waitFor(async () => {
        await store.write('n', '', undefined, undefined, HOUR);
        expect(readdirSync(directory).sort()).toEqual(['snapshot-later', 'snapshot-n', 'snapshot-present']);
      });
    },
  );
});
