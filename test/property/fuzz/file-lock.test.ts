import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import type { AcquireAnswer } from '../../../src/cluster/lock-contract.ts';
import { isTicklessError, RefreshingValue } from '../../../src/index.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { recordLines } from '../../support/events.ts';
import { lockOf } from '../../support/parts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { folderOf } from '../../unit/files/record-files.ts';
import { expectReadable, expectUnpolluted, foreignText, hostileJson } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { runs } from './support/runs.ts';

// The files of a lock, edited by hand, through the real lock.

afterEach(expectUnpolluted);

/** Longer than any run. */
const LEASE_MS = 24 * 3_600_000;

interface Written {
  readonly record: Readonly<Record<string, unknown>> & { readonly token: number };
  readonly [field: string]: unknown;
}

interface Kept {
  readonly directory: string;
  readonly folder: string;
  /** The states of the name: a round that is done, and a live lease after it. */
  readonly files: ReadonlyMap<string, string>;
  readonly head: string;
  readonly state: Written;
}

async function kept(): Promise<Kept> {
  const directory = temporaryDirectory();
  const lock = lockOf(fileBackend({ directory, leaseFor: LEASE_MS, retention: Infinity }));
  const first = await lock.acquire({ name: 'v' });
  if (first.kind === 'acquired') await lock.release(first.lease, { as: 'done', holdFor: 0 });
  await lock.acquire({ name: 'v' });
  const folder = folderOf(directory, 'lock/v');
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const last = Math.max(...[...files.keys()].map((name) => Number.parseInt(name, 10)));
  const state = JSON.parse(files.get(`${last}.json`) as string) as Written;
  return { directory, folder, files, head: `${last}.json`, state };
}

/** The same in a directory of its own, changed: no earlier lock that still deletes what has expired sees it. */
function put(made: Kept, changed: Readonly<Record<string, string>>): Kept {
  const directory = temporaryDirectory();
  const folder = folderOf(directory, 'lock/v');
  mkdirSync(folder);
  for (const [name, text] of Object.entries({ ...Object.fromEntries(made.files), ...changed })) {
    writeFileSync(join(folder, name), text);
  }
  return { ...made, directory, folder };
}

async function answerOf(lock: Lock): Promise<AcquireAnswer | undefined> {
  try {
    return await lock.acquire({ name: 'v', force: true });
  } catch (error) {
    if (!isTicklessError(error, 'BACKEND_DOWN')) throw error;
    expectReadable(error.message);
    return undefined;
  }
}

/**
 * The holder of the lease is the only one, and its token is greater than all that can be read.
 *
 * @param tokens that can be read.
 */
async function expectSound(directory: string, tokens: readonly number[]): Promise<AcquireAnswer | undefined> {
  const patient = { directory, timeout: 30_000 }; // a busy machine: what counts is the answer
  const lock = lockOf(fileBackend({ ...patient, leaseFor: LEASE_MS, retention: Infinity }));
  const answer = await answerOf(lock);
  if (answer?.kind !== 'acquired') return answer;
  const { lease } = answer;
  for (const token of tokens) expect(lease.token).toBeGreaterThan(token);
  expect((await lockOf(fileBackend(patient)).acquire({ name: 'v', force: true })).kind).toBe('held');
  expect(await lock.extend(lease)).toBe(true);
  expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
  const next = await answerOf(lock);
  if (next?.kind === 'acquired') expect(next.lease.token).toBeGreaterThan(lease.token);
  return answer;
}

/** The text describes the same state. */
function isSame(text: string, state: Written): boolean {
  try {
    const read = JSON.parse(text) as Written;
    const { id: _, ...rest } = state;
    const { id: __, ...found } = read;
    return JSON.stringify(found) === JSON.stringify(rest);
  } catch {
    return false;
  }
}

function tokensOf(texts: Iterable<string>): number[] {
  return [...texts].flatMap((text) => {
    try {
      const { token } = (JSON.parse(text) as Written).record;
      return Number.isSafeInteger(token) ? [token] : [];
    } catch {
      return [];
    }
  });
}

describe('the state of a name', () => {
  it('that was damaged or edited gives no second lease while it is readable, and tokens that grow', async () => {
    const made = await kept();
    const before = [...made.files].filter(([name]) => name !== made.head).map(([, text]) => text);
    const good = made.files.get(made.head) as string;
    const few = { minKeys: 1, maxKeys: 2 };
    const outer = fc.constantFrom('at', 'wall', 'boot', 'clock', 'name', 'record', '__proto__');
    const inner = fc.constantFrom(...Object.keys(made.state.record), '__proto__');
    const edited = fc
      .tuple(fc.dictionary(outer, hostileJson, few), fc.dictionary(inner, hostileJson, few), fc.boolean())
      .map(([around, inside, isInside]) => {
        const { state } = made;
        return JSON.stringify(
          isInside ? { ...state, record: { ...state.record, ...inside } } : { ...state, ...around },
        );
      });
    const content = fc.oneof(
      mutation.map((mutate) => mutate(good, before.at(-1) ?? '')),
      foreignText,
      edited,
      edited,
    );
    await fc.assert(
      fc.asyncProperty(content, async (text) => {
        const { directory } = put(made, { [made.head]: text });
        const answer = await expectSound(directory, tokensOf(before));
        if (isSame(text, made.state)) expect(answer?.kind).toBe('held');
        if (answer !== undefined && answer.kind !== 'acquired') {
          expect(Number.isFinite(answer.retryAfter) && answer.retryAfter > 0).toBe(true);
        }
        expect(Number.isFinite(answer?.now ?? 0)).toBe(true);
      }),
      runs(140),
    );
  });

  it('with the greatest token: the next one is that of the clock again, also if that state is damaged', async () => {
    const made = await kept();
    const token = Number.MAX_SAFE_INTEGER - 1;
    const huge = JSON.stringify({ ...made.state, record: { ...made.state.record, token } });
    const number = Number.parseInt(made.head, 10);
    for (const changed of [{ [made.head]: huge }, { [made.head]: huge, [`${number + 1}.json`]: 'damaged' }]) {
      const { directory } = put(made, changed);
      const answer = await lockOf(fileBackend({ directory })).acquire({ name: 'v' });
      if (answer.kind !== 'acquired') throw new Error(answer.kind);
      expect(answer.damage).toMatch(/^its (token|file) was/);
      expect(answer.lease.token / 1000 - answer.now).toBeLessThan(1000);
      expect(answer.lease.token).toBeGreaterThan(Math.max(...tokensOf([...made.files.values()])));
    }
  });

  it('with the greatest number: an error, without further work in the background', async () => {
    const made = put(await kept(), { '9007199254740990.json': 'x' });
    for (let left = 3; left > 0; left--) {
      await expect(lockOf(fileBackend({ directory: made.directory })).acquire({ name: 'v' })).rejects.toThrow(
        `the backend is unavailable: no file can follow the highest number in ${made.folder}; delete the folder`,
      );
    }
  });

  it('under a value: it is served whatever the files contain', async () => {
    const made = await kept();
    const spoil: Readonly<Record<string, (path: string) => void>> = {
      'a folder': (path) => mkdirSync(path),
      'a link to itself': (path) => symlinkSync(path, path),
      binary: (path) => writeFileSync(path, Buffer.from([0, 255, 254, 128])),
      nothing: (path) => writeFileSync(path, ''),
    };
    for (const replace of Object.values(spoil)) {
      const { directory, folder } = put(made, {});
      const path = join(folder, made.head);
      rmSync(path);
      replace(path);
      const logger = recordLines();
      const lock = lockOf(fileBackend({ directory }));
      const value = new RefreshingValue({ name: 'v', load: async () => 'loaded', lock, logger });
      expect(await value.get()).toBe('loaded');
      await value.close();
      expect(logger.lines).toEqual([
        'warn tickless: v: lock record damaged, it is replaced: its file was implausible or of a wrong type',
      ]);
    }
  });
});
