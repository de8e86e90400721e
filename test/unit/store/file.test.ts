import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { storeOf } from '../../support/parts.ts';
import { storeConformance } from '../../support/store-conformance.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { OLD, OLD_TEXT, RECENT, RECENT_TEXT } from '../../support/temporary-files.ts';
import { edit, folderOf, older, pathOf, type State, states, texts } from '../files/record-files.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The record of `n`. */
const N = 'snapshot/n';

/** A payload that is in a file of its own. */
const LONG = 'x'.repeat(4000);

describe.concurrent('the store of fileBackend: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const timeout = 20_000; // the cases read the same disk at once
  const occupied = join(directory, 'occupied');
  writeFileSync(occupied, '');
  const subject = {
    store: () => storeOf(fileBackend({ directory, timeout })),
    other: () => storeOf(fileBackend({ directory, timeout })),
    unreachable: () => storeOf(fileBackend({ directory: occupied })),
    inNamespace: (namespace: string) => storeOf(fileBackend({ directory, timeout, namespace })),
    postdate: (name: string, ms: number) => edit(directory, `snapshot/${name}`, older(-ms)),
  };
  for (const { name, run } of storeConformance(subject)) it(name, run);

  const keepVersions = 3;
  const withOlder = {
    ...{ ...subject, keepVersions },
    store: () => storeOf(fileBackend({ directory, timeout, keepVersions })),
    other: () => storeOf(fileBackend({ directory, timeout, keepVersions })),
  };
  for (const { name, run } of storeConformance(withOlder)) it(`with keepVersions: ${name}`, run);
});

describe('the store of fileBackend: the directory', () => {
  it('is created with its parents by the first write, not before', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b');
    const store = storeOf(fileBackend({ directory }));
    expect(await store.read('n')).toBeUndefined();
    expect(await store.delete('n')).toBe(false);
    expect(existsSync(directory)).toBe(false);
    await store.write('n', 'payload', 5);
    expect(readdirSync(directory)).toEqual(['record-snapshot%2fn']);
  });

  it('has the payloads of the versions that are kept, and nothing of what was deleted', async () => {
    const directory = temporaryDirectory();
    const payloads = () => texts(directory, N).map((path) => readFileSync(path, 'utf8').slice(4000));
    const store = storeOf(fileBackend({ directory }));
    for (const token of [5, 7, 6, 9]) await store.write('n', `${LONG}${token}`, token);
    expect(payloads()).toEqual(['9']);
    const keeping = storeOf(fileBackend({ directory, keepVersions: 3 }));
    for (const token of [10, 11, 12, 13]) await keeping.write('n', `${LONG}${token}`, token);
    expect(payloads().sort()).toEqual(['11', '12', '13']);
    await keeping.write('n', 'brief', 14, undefined, 60_000);
    expect(payloads()).toEqual([]);
    await store.write('m', LONG);
    await store.delete('n');
    expect(readdirSync(directory)).toEqual(['record-snapshot%2fm']);
  });

  it('is not filled by states: sixteen of a name are kept', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory, keepVersions: 2 }));
    for (let token = 1; token <= 40; token += 1) await store.write('n', `payload ${token}`, token);
    expect(states(directory, N)).toEqual(Array.from({ length: 16 }, (_, i) => 25 + i));
    expect((await store.history('n')).map(({ version }) => version)).toEqual([40, 39]);
  });

  it('is not written by a write that is refused or repeated', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', LONG, 5);
    const files = readdirSync(folderOf(directory, N));
    expect(await store.write('n', `${LONG}4`, 4)).toEqual({ kind: 'refused', version: 5 });
    expect(await store.write('n', LONG, 5)).toEqual({ kind: 'written', version: 5 });
    expect(readdirSync(folderOf(directory, N))).toEqual(files);
  });

  it('deletes old files without a use, which a killed process has left', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', LONG, 5);
    const folder = folderOf(directory, N);
    for (const file of [OLD, RECENT, OLD_TEXT, RECENT_TEXT]) writeFileSync(join(folder, file), '{');
    const payload = String(texts(directory, N).find((path) => statSync(path).size === LONG.length));
    for (const file of [OLD, OLD_TEXT].map((file) => join(folder, file)).concat(payload))
      utimesSync(file, new Date(), new Date(Date.now() - HOUR));
    const keeping = storeOf(fileBackend({ directory, keepVersions: 2 }));
    await keeping.write('n', 'payload', 6);
    const left = readdirSync(folder);
    expect(left).toEqual(expect.arrayContaining([RECENT, RECENT_TEXT]));
    expect(left).not.toContain(OLD);
    expect(left).not.toContain(OLD_TEXT);
    expect((await keeping.read('n', -1, 5))?.payload).toBe(LONG); // an old file with a use
  });
});

describe('the store of fileBackend: an unreadable snapshot', () => {
  const changes: [string, (text: string) => string][] = [
    ['an empty file', () => ''],
    ['a truncated file', (text) => text.slice(0, -1)],
    ['a longer file', (text) => `${text}x`],
  ];
  const about = (path: string) =>
    expect.stringContaining(`its file ${path} is damaged: the field`) as unknown as string;

  it.each<[string, (text: string) => string]>([
    ...changes,
    ['another text', () => 'payload'],
    ['a state of another kind', () => '{}'],
    ['a state that is null', () => 'null'],
  ])('%s in the place of its state: is damaged, and blocks no write', async (_, change) => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'first', 3);
    await store.write('n', 'payload', 5);
    const path = pathOf(directory, N);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    expect(await store.read('n')).toEqual({ version: 0, age: 0, payload: '', damage: about(path) });
    expect(await store.versions(['n'])).toEqual([0]);
    expect(await store.write('n', 'older', 4)).toEqual({ kind: 'written', version: 4 });
    expect(await store.read('n')).toMatchObject({ payload: 'older', version: 4 });
    expect(await store.write('n', 'oldest', 3)).toEqual({ kind: 'refused', version: 4 });
    expect(await store.write('n', 'newer', 6)).toEqual({ kind: 'written', version: 6 });
    expect(await store.read('n')).toMatchObject({ payload: 'newer', version: 6 });
  });

  it.each([...changes, ['no file', undefined] as const])(
    '%s in the place of its payload: is damaged, and blocks no write',
    async (_, change) => {
      const directory = temporaryDirectory();
      const store = storeOf(fileBackend({ directory }));
      await store.write('n', LONG, 5);
      const [path = ''] = texts(directory, N);
      if (change === undefined) rmSync(path);
      else writeFileSync(path, change(readFileSync(path, 'utf8')));
      expect(await store.read('n')).toEqual({ version: 5, age: 0, payload: '', damage: about(path) });
      expect(await store.read('n', 5)).toBeUndefined();
      expect(await store.history('n')).toMatchObject([{ version: 5, damage: expect.any(String) }]);
      expect(await store.write('n', LONG, 5)).toEqual({ kind: 'written', version: 5 });
      expect(await store.read('n')).toMatchObject({ payload: LONG, version: 5 });
      expect(texts(directory, N)).toHaveLength(1);
    },
  );

  it('leaves the versions before it readable, also after the next write', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory, keepVersions: 3 }));
    for (const token of [3, 4, 5]) await store.write('n', `${LONG}${token}`, token);
    writeFileSync(pathOf(directory, N), '');
    expect(await store.read('n')).toMatchObject({ damage: expect.any(String) });
    const versions = async () => (await store.history('n')).map(({ version, damage }) => [version, damage]);
    expect(await versions()).toEqual([
      [0, expect.any(String)],
      [4, undefined],
      [3, undefined],
    ]);
    expect((await store.read('n', -1, 4))?.payload).toBe(`${LONG}4`);
    await store.write('n', 'mended', 6);
    expect(await versions()).toEqual([
      [6, undefined],
      [4, undefined],
      [3, undefined],
    ]);
    expect((await store.read('n', -1, 3))?.payload).toBe(`${LONG}3`);
  });

  it('with a version in the far future: later ones count all the same', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    await store.write('n', 'payload', 5);
    edit(directory, N, ({ record }) => ({ record: { ...record, token: 9_000_000_000_000_000 } }));
    for (const number of ['9007199254740991', '007', '5.5', '-1']) {
      writeFileSync(join(folderOf(directory, N), `${number}.json`), 'x');
    }
    expect(await store.read('n')).toMatchObject({ damage: expect.stringContaining('the field token') });
    expect(await store.write('n', 'next', 6)).toEqual({ kind: 'written', version: 6 });
    expect(await store.read('n')).toMatchObject({ payload: 'next' });
    const { version } = await store.write('n', 'last');
    expect(Number.isSafeInteger(version)).toBe(true);
    expect(await store.read('n')).toMatchObject({ payload: 'last', version });
  });

  it('is exceeded by the next version, if the clock lags', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory }));
    const token = Date.now() * 1000 + DAY * 1000;
    await store.write('n', 'first', token);
    const { version } = await store.write('n', 'damaged');
    expect(version).toBe(token + 1);
    writeFileSync(pathOf(directory, N), '');
    expect((await store.write('n', 'next')).version).toBeGreaterThan(version);
  });
});

describe('the store of fileBackend: a payload in a file of its own', () => {
  it('is not read for its version, nor written when its name is checked', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory, keepVersions: 2 }));
    await store.write('n', LONG, 5);
    const [path = ''] = texts(directory, N);
    truncateSync(path, 10);
    expect(await store.versions(['n'])).toEqual([5]);
    const { ino } = statSync(path);
    await store.write('n', 'next', 6);
    expect(texts(directory, N)).toContain(path);
    expect(statSync(path).ino).toBe(ino); // the earlier version is where it was
  });

  it('is listed by its beginning: a character that is cut is none of it', async () => {
    const store = storeOf(fileBackend({ directory: temporaryDirectory() }));
    const payload = `${'é😀'.repeat(9000)}\nnext`;
    await store.write('n', payload, 5);
    const [version] = await store.history('n');
    expect(version).toMatchObject({ version: 5, bytes: Buffer.byteLength(payload), damage: undefined });
  });
});

it('the store of fileBackend: a snapshot is on the disk before it appears, a report need not be', async () => {
  const directory = temporaryDirectory();
  const store = storeOf(fileBackend({ directory, retention: Infinity }));
  const handle = await open(import.meta.filename);
  await handle.close();
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { datasync } = prototype;
  const last = () => (existsSync(folderOf(directory, N)) ? states(directory, N).at(-1) : undefined);
  const syncs: unknown[] = []; // the last state at the time of each
  const spy = vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: FileHandle) {
    syncs.push(last());
    await datasync.call(this);
  });
  try {
    await store.write('n', 'short', 5);
    expect(syncs.splice(0)).toEqual([0]);
    await store.write('n', LONG, 6);
    expect(syncs.splice(0)).toEqual([1, 1]); // the payload, and the state that names it
    await store.versions(['n'], { instance: 'a', text: LONG, keepFor: 60_000 });
    expect(syncs).toEqual([]);
  } finally {
    spy.mockRestore();
  }
});

// machine-clock.test.ts has the other pairs of clocks.
it.each<[string, (state: State) => object]>([
  ['the machine’s time since boot', (state) => ({ ...older(HOUR)(state), wall: state.wall + DAY })],
  ['the wall clock after a reboot', ({ wall }) => ({ boot: 'another', wall: wall - HOUR })],
])('the store of fileBackend: the age is measured by %s', async (_, change) => {
  const directory = temporaryDirectory();
  await storeOf(fileBackend({ directory })).write('n', 'payload', 5);
  edit(directory, N, change);
  const { age = Number.NaN } = (await storeOf(fileBackend({ directory })).read('n')) ?? {};
  expect(age).toBeGreaterThanOrEqual(HOUR);
  expect(age).toBeLessThan(HOUR + 10_000);
});

it('the store of fileBackend: the age of a snapshot is unknown where the clock was set back by a reboot', async () => {
  const directory = temporaryDirectory();
  await storeOf(fileBackend({ directory })).write('n', 'payload', 5);
  edit(directory, N, ({ wall }) => ({ boot: 'another', wall: wall + HOUR }));
  expect(await storeOf(fileBackend({ directory })).read('n')).toMatchObject({ damage: expect.any(String) });
});

describe('the store of fileBackend: retention', () => {
  it.each([7 * DAY, Infinity])(
    'a keepFor ends it sooner, of that snapshot: retention %d',
    async (retention) => {
      const directory = temporaryDirectory();
      const setup = storeOf(fileBackend({ directory, retention: Infinity }));
      for (const name of ['absent', 'later', 'present']) await setup.write(name, '', 5, undefined, HOUR);
      for (const name of ['absent', 'present']) edit(directory, `snapshot/${name}`, older(2 * HOUR));
      await setup.write('present', 'payload', 6);
      edit(directory, 'snapshot/present', older(2 * HOUR));
      const store = storeOf(fileBackend({ directory, retention }));
      await vi.waitFor(async () => {
        await store.write('n', '', undefined, undefined, HOUR);
        expect(readdirSync(directory).sort()).toEqual([
          'record-snapshot%2flater',
          'record-snapshot%2fn',
          'record-snapshot%2fpresent',
        ]);
      });
    },
  );

  it('without a retention, one with a keepFor is looked for again after ten minutes, whatever is written', async () => {
    const directory = temporaryDirectory();
    const store = storeOf(fileBackend({ directory, retention: Infinity, timeout: { hours: 1 } }));
    await store.write('absent', '', 5, undefined, HOUR);
    await new Promise((resolve) => setTimeout(resolve, 100)); // the pass behind that write has seen it
    edit(directory, 'snapshot/absent', older(2 * HOUR));
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 601_000);
    try {
      await vi.waitFor(async () => {
        await store.write('n', 'payload');
        expect(readdirSync(directory)).toEqual(['record-snapshot%2fn']);
      });
    } finally {
      clock.mockRestore();
    }
  });
});
