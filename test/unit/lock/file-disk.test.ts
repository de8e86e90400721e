// What the disk is waited for, and what others do between two steps. By spies on the handles of files and not by a module
// of its own in the place of node:fs (as in file-crashes.test.ts), so that mutation testing can run it beside the others.
import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LeaseId } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { fileLock } from '../../../src/lock/file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Without a retention: what is old is not looked for behind the others. */
function lockIn(directory: string): Lock {
  return fileLock({ directory, leaseFor: 60_000, timeout: 60_000, retention: Infinity });
}

async function leaseOf(lock: Lock): Promise<LeaseId> {
  const answer = await lock.acquire({ name: 'n' });
  if (answer.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(answer)}`);
  return answer.lease;
}

async function rounds(lock: Lock, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await lock.release(await leaseOf(lock), { as: 'done', holdFor: 0 });
}

/** The highest number of a file of the name; -1: there is none. */
function numberIn(directory: string): number {
  const files = readdirSync(join(directory, 'lock-n')).filter((file) => file.endsWith('.json'));
  return Math.max(-1, ...files.map((file) => Number.parseInt(file, 10)));
}

/** What the handles of all files have in common. */
async function handles(): Promise<FileHandle> {
  const handle = await open(import.meta.filename);
  await handle.close();
  return Object.getPrototypeOf(handle);
}

describe('fileLock: what a power failure may not take', () => {
  it('is each state with a lease, and no other: it is on the disk before it appears under its number', async () => {
    const directory = temporaryDirectory();
    const lock = lockIn(directory);
    const prototype = await handles();
    const { datasync } = prototype;
    /** Which number was the highest each time the disk was waited for. */
    let waited: number[] = [];
    vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: FileHandle) {
      waited.push(numberIn(directory));
      await datasync.call(this);
    });
    const waits = (): number[] => {
      const since = waited;
      waited = [];
      return since;
    };

    const lease = await leaseOf(lock);
    expect([waits(), numberIn(directory)]).toEqual([[0], 1]);
    expect(await lock.extend(lease)).toBe(true);
    expect([waits(), numberIn(directory)]).toEqual([[1], 2]);
    expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(true);
    expect([waits(), numberIn(directory)]).toEqual([[], 3]);
    const next = await leaseOf(lock);
    expect([waits(), numberIn(directory)]).toEqual([[3], 4]);
    await lock.forceRelease('n', next.token);
    expect([waits(), numberIn(directory)]).toEqual([[], 5]);
  });
});

describe('fileLock: while its file is written, others go on until that number is free again', () => {
  /** @param act what is done meanwhile, once. */
  async function whileWritten<R>(act: () => Promise<R>, others: () => Promise<unknown>): Promise<R> {
    const prototype = await handles();
    const { writeFile } = prototype;
    vi.spyOn(prototype, 'writeFile').mockImplementation(async function (
      this: FileHandle,
      ...args: Parameters<FileHandle['writeFile']>
    ) {
      vi.restoreAllMocks();
      await writeFile.apply(this, args);
      await others();
    });
    return act();
  }

  it('an acquire is told who has the lease', async () => {
    const directory = temporaryDirectory();
    const others = lockIn(directory);
    await rounds(others, 3);
    const answer = await whileWritten(
      () => lockIn(directory).acquire({ name: 'n', owner: 'late' }),
      async () => {
        await rounds(others, 20);
        await others.acquire({ name: 'n', owner: 'next' });
      },
    );
    expect(answer).toMatchObject({ kind: 'held', owner: 'next' });
    expect(await others.inspect('n')).toMatchObject({ state: 'running', owner: 'next' });
  });

  it('a release leaves the lease of the next holder alone', async () => {
    const directory = temporaryDirectory();
    const others = lockIn(directory);
    await rounds(others, 3);
    const lease = await leaseOf(others);
    let next = lease;
    const isReleased = await whileWritten(
      () => lockIn(directory).release(lease, { as: 'done', holdFor: 60_000 }),
      async () => {
        await others.forceRelease('n', lease.token);
        await rounds(others, 20);
        next = await leaseOf(others);
      },
    );
    expect(isReleased).toBe(false);
    expect(await others.inspect('n')).toMatchObject({ state: 'running', token: next.token });
  });
});
