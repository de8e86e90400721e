import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import { storeOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { folderOf, pathOf, texts } from '../../unit/files/record-files.ts';
import { expectReadable, expectUnpolluted, foreignText, hostileJson } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { runs } from './support/runs.ts';
import { LOADED, type Read, readOf } from './support/stored.ts';

// The files of a store, edited by hand or broken by a disk, through the real store and a real value.

afterEach(expectUnpolluted);

const STORED = { rates: { USD: 1.08 }, of: '2026-11-20' };

/** Its payload is in a file of its own. */
const LONG = { ...STORED, notes: 'x'.repeat(4000) };

interface Written {
  readonly directory: string;
  readonly folder: string;
  readonly stored: typeof STORED;
  /** All files of the record. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The one that is changed: the state, or the payload. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** A directory with the snapshot of an instance. */
async function written(stored: typeof STORED = STORED): Promise<Written> {
  const directory = temporaryDirectory();
  const { member } = await readOf(() => fileBackend({ directory, retention: Infinity }), false, {
    load: async () => stored,
  });
  await member.close();
  const folder = folderOf(directory, 'snapshot/v');
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  const path = stored === LONG ? String(texts(directory, 'snapshot/v')[0]) : pathOf(directory, 'snapshot/v');
  return { directory, folder, stored, files, path, bytes: readFileSync(path) };
}

/** The same in a directory of its own, with that content: nothing that an earlier instance still deletes is in it. */
function put({ directory, folder, files, path, ...rest }: Written, content: string | Buffer): Written {
  const own = temporaryDirectory();
  const made = { ...rest, files, directory: own, folder: moved(folder), path: moved(path) };
  mkdirSync(made.folder);
  for (const [name, bytes] of files) writeFileSync(join(made.folder, name), bytes);
  writeFileSync(made.path, content);
  return made;

  function moved(place: string): string {
    return join(own, relative(directory, place));
  }
}

/** The first read of an instance. If it had to load, its snapshot is written by the end. */
async function read(directory: string): Promise<Read> {
  const first = await readOf(() => fileBackend({ directory, retention: Infinity }), false);
  await first.member.close();
  return first;
}

/** The snapshot was rejected, and the log names the reason and the file or version. */
function expectLogged({ value, lines }: Read, { folder }: Written): void {
  expect(value).toBe(LOADED);
  const about = lines.filter((line) => line.includes(' rejected: '));
  expect(about).toHaveLength(1);
  expect(about[0]).toMatch(/^warn tickless: v: snapshot of version \d+ rejected: /);
  if (about[0]?.includes('its file')) expect(about[0]).toContain(folder);
  expectReadable(about[0] as string);
}

describe('a file of the store', () => {
  it.each([
    ['a state', STORED],
    ['a payload', LONG],
  ])('%s that was damaged is logged and not read; the next load replaces it', async (_, stored) => {
    const made = await written(stored);
    const bytes = made.bytes.toString('latin1');
    const bit = fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)).map(([at, nth]) => {
      const flipped = Buffer.from(made.bytes);
      flipped[at] = (flipped[at] as number) ^ (1 << nth);
      return flipped;
    });
    const cut = fc.nat(bytes.length - 1).map((end) => made.bytes.subarray(0, end));
    const changed = mutation.map((mutate) => Buffer.from(mutate(bytes, bytes), 'latin1'));
    const foreign = foreignText.map((text) => Buffer.from(text));
    await fc.assert(
      fc.asyncProperty(fc.oneof(bit, cut, changed, foreign), async (content) => {
        const damaged = put(made, content);
        const first = await read(damaged.directory);
        // Damage to the clocks in the state changes the age, not the value.
        if (first.value === LOADED) {
          expectLogged(first, damaged);
          expect((await read(damaged.directory)).lines).toEqual([]);
        } else expect(first.value).toEqual(stored);
        expect(first.member.inspect().age).toBeGreaterThanOrEqual(0);
      }),
      runs(80),
    );
  });

  it('whose state holds anything: the read returns the stored value or a loaded one', async () => {
    const made = await written();
    const sound = JSON.parse(made.bytes.toString()) as { readonly record: object };
    const outer = fc.constantFrom('at', 'wall', 'boot', 'clock', 'name', 'record', '__proto__');
    const inner = fc.constantFrom(...Object.keys(sound.record), 'keepMs', 'replaced', '__proto__');
    const few = { minKeys: 1, maxKeys: 3 };
    const changes = fc.oneof(
      fc.dictionary(outer, hostileJson, few),
      fc.dictionary(inner, hostileJson, few).map((record) => ({ record: { ...sound.record, ...record } })),
    );
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const edited = put(made, JSON.stringify({ ...sound, ...change }));
        const first = await read(edited.directory);
        const { record } = change as {
          readonly record?: { readonly token?: unknown; keepMs?: unknown } | null;
        };
        // A state of no record, or of one that no reader asks for: the versions of loads are greater.
        const isNone = record === null || record?.token === 0;
        // It is kept no longer, by its own word: deleted with all that has expired, if that is looked for now.
        const mayBeDeleted = typeof record?.keepMs === 'number';
        const isSilent = first.lines.length === 0;
        if (isNone && isSilent) expect(first.value).toBe(LOADED);
        else if (first.value !== LOADED) expect(first.value).toEqual(STORED);
        else if (!mayBeDeleted || !isSilent) expectLogged(first, edited);
        const { age, nextExecuteTime } = first.member.inspect();
        expect(age).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(age) && Number.isFinite(nextExecuteTime)).toBe(true);
      }),
      runs(100),
    );
  });

  it('of several states, none readable: logged, and the next write repairs it', async () => {
    const made = put(await written(), '');
    for (const name of made.files.keys()) writeFileSync(join(made.folder, name), '');
    for (const name of ['-1', '007', '1e3', 'NaN', '9007199254740993', '__proto__', '']) {
      writeFileSync(join(made.folder, `${name}.json`), made.bytes);
    }
    expectLogged(await read(made.directory), made);
    const store = storeOf(fileBackend({ directory: made.directory }));
    expect((await read(made.directory)).lines).toEqual([]); // the first has written what it had loaded
    const version = (Date.now() + 3_600_000) * 1000;
    expect(await store.write('v', 'mended', version)).toEqual({ kind: 'written', version });
    expect(await store.read('v')).toMatchObject({ payload: 'mended' });
    expect(await store.write('v', 'last')).toEqual({ kind: 'written', version: version + 1 }); // the damaged ones fence nothing
    expect(await store.read('v')).toMatchObject({ payload: 'last' });
  });

  it('replaced by something else: the value is loaded, and the path is logged', async () => {
    for (const place of ['a folder', 'a link to itself', 'a file in the place of the folder'] as const) {
      const made = await written();
      rmSync(place === 'a file in the place of the folder' ? made.folder : made.path, { recursive: true });
      if (place === 'a folder') mkdirSync(made.path);
      else if (place === 'a link to itself') symlinkSync(made.path, made.path);
      else writeFileSync(made.folder, 'x');
      const { value, lines } = await read(made.directory);
      expect(value).toBe(LOADED);
      const isOneFile = place !== 'a file in the place of the folder';
      expect(lines[0]).toMatch(
        isOneFile
          ? / rejected: its file .* is damaged: /
          : / file: store unavailable, loads are not shared: E[A-Z]+: /,
      );
      expect(lines[0]).toContain(made.folder);
    }
  });
});
