// Processes that stop before any of their steps: for ever (killed) or for a while (paused).
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LeaseId } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { fileLock } from '../../../src/lock/file.ts';
import { fileStore } from '../../../src/store/file.ts';
import { leaseOf, rounds } from './file-rounds.ts';

/** Called before each operation on the file system. */
let beforeStep: (step: string, path: string) => Promise<void> | undefined = () => undefined;

vi.mock('node:fs/promises', async (original) => {
  const real = await original<Record<string, (...args: unknown[]) => Promise<unknown>>>();
  const stepwise = Object.entries(real).map(([step, act]) => {
    if (typeof act !== 'function') return [step, act];
    return [
      step,
      async (...args: unknown[]) => {
        await beforeStep(step, String(args.at(step === 'link' || step === 'rename' ? 1 : 0)));
        return act(...args);
      },
    ];
  });
  return Object.fromEntries(stepwise);
});

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'crashes-'));
});

afterEach(() => {
  beforeStep = () => undefined;
  rmSync(directory, { recursive: true, force: true });
});

/** Without a retention, whose background deletions would be counted as steps. */
function lockOf(leaseFor: number): Lock {
  return fileLock({ directory, leaseFor, timeout: 60_000, retention: Infinity });
}

const never = (): Promise<never> => new Promise(() => {});

/** Runs a process that is killed before step number `count`. @returns whether it was: it may need fewer steps. */
async function killedAt(count: number, act: () => Promise<unknown>): Promise<boolean> {
  let made = 0;
  let wasKilled = false;
  const killed = new Promise<void>((resolve) => {
    beforeStep = () => {
      made += 1;
      if (made < count) return undefined;
      wasKilled = true;
      resolve();
      return never();
    };
  });
  await Promise.race([act(), killed]);
  beforeStep = () => undefined;
  return wasKilled;
}

/** Runs a process that is paused before occurrence `count` of a step, while other processes act. */
async function meanwhile<R>(
  step: string,
  act: () => Promise<R>,
  others: () => Promise<unknown>,
  count = 1,
): Promise<R> {
  let left = count;
  let goOn = (): void => {};
  const reached = new Promise<void>((resolve) => {
    beforeStep = (name) => {
      if (name !== step) return undefined;
      left -= 1;
      if (left > 0) return undefined;
      beforeStep = () => undefined;
      resolve();
      return new Promise((gone) => {
        goOn = gone;
      });
    };
  });
  const answer = act();
  const isReached = await Promise.race([reached.then(() => true), answer.then(() => false)]);
  if (!isReached) throw new Error(`it did not come to ${step} ${count} times`);
  await others();
  goOn();
  return answer;
}

async function freeAgain(lock: Lock, within: number): Promise<LeaseId> {
  const begin = performance.now();
  for (;;) {
    const answer = await lock.acquire({ name: 'n' });
    if (answer.kind === 'acquired') return answer.lease;
    if (performance.now() - begin > within) throw new Error(`still ${JSON.stringify(answer)}`);
    await sleep(5);
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(join(directory, folder));
}

describe('a killed process', () => {
  it('at any step of its first acquire blocks the others no longer than its lease', async () => {
    for (let step = 1; await killedAt(step, () => lockOf(20).acquire({ name: 'n' })); step += 1) {
      await freeAgain(lockOf(20), 5000);
      rmSync(directory, { recursive: true });
      expect(step).toBeLessThan(50);
    }
  });

  it('at any step of later operations likewise, and no token is issued twice', async () => {
    let token = 0;
    const steps: Record<string, (lease: LeaseId) => Promise<unknown>> = {
      extend: (lease) => lockOf(20).extend(lease),
      'release as done': (lease) => lockOf(20).release(lease, { as: 'done', holdFor: 0 }),
      'release as failed': (lease) => lockOf(20).release(lease, { as: 'failed', holdFor: 5 }),
      forceRelease: (lease) => lockOf(20).forceRelease('n', lease.token),
      'acquire after a release': async (lease) => {
        await lockOf(20).release(lease, { as: 'abandoned' });
        await lockOf(20).acquire({ name: 'n' });
      },
    };
    await rounds(lockOf(60_000), 20); // so that there are old states to delete
    for (const [name, act] of Object.entries(steps)) {
      for (let step = 1; ; step += 1) {
        const lease = await freeAgain(lockOf(20), 5000);
        for (const file of filesIn('lock-n')) {
          if (file.endsWith('.tmp')) rmSync(join(directory, 'lock-n', file)); // each would be a step more
        }
        expect(lease.token).toBeGreaterThan(token);
        token = lease.token;
        if (!(await killedAt(step, () => act(lease)))) break;
        expect(step, name).toBeLessThan(200);
      }
    }
  }, 60_000);

  it('leaves at most one temporary file per kill', async () => {
    await rounds(lockOf(60_000), 20);
    await freeAgain(lockOf(20), 1000);
    let kills = 0;
    for (let step = 1; await killedAt(step, () => lockOf(20).acquire({ name: 'n' })); step += 1) {
      kills += 1;
      await freeAgain(lockOf(20), 5000);
    }
    expect(filesIn('lock-n').filter((file) => file.endsWith('.tmp')).length).toBeLessThanOrEqual(kills);
    expect(filesIn('lock-n').filter((file) => file.endsWith('.json')).length).toBeLessThanOrEqual(18);
  });

  it('at any step of a write leaves the previous snapshot, or its own', async () => {
    const write = (payload: string, token?: number) =>
      fileStore({ directory, retention: Infinity }).write('n', payload, token);
    for (const tokenOf of [(step: number) => 1000 + step, () => undefined]) {
      await write('first', tokenOf(0));
      let before = 'first';
      for (let step = 1; await killedAt(step, () => write(`payload ${step}`, tokenOf(step))); step += 1) {
        const payload = (await fileStore({ directory, retention: Infinity }).read('n'))?.payload;
        expect([before, `payload ${step}`]).toContain(payload);
        before = String(payload);
        expect(step).toBeLessThan(50);
      }
      await fileStore({ directory, retention: Infinity }).delete('n');
    }
  });
});

describe('a paused process', () => {
  // Other processes have used its state number, and deleted it.
  it('before its file appears, while others run rounds, does not get the lease', async () => {
    const late = lockOf(60_000);
    const others = lockOf(60_000);
    await rounds(others, 3);
    const answer = await meanwhile(
      'link',
      () => late.acquire({ name: 'n', owner: 'late' }),
      async () => {
        await rounds(others, 20);
        await others.acquire({ name: 'n', owner: 'next' });
      },
    );
    expect(answer).toMatchObject({ kind: 'held', owner: 'next' });
    expect(filesIn('lock-n').length).toBeLessThanOrEqual(17);
  });

  it('before the very first file appears does not get it either', async () => {
    const others = lockOf(60_000);
    const answer = await meanwhile(
      'link',
      () => lockOf(60_000).acquire({ name: 'n', owner: 'late' }),
      async () => {
        await rounds(others, 20);
        await others.acquire({ name: 'n', owner: 'next' });
      },
    );
    expect(answer).toMatchObject({ kind: 'held', owner: 'next' });
  });

  it('does not extend or release the lease of the next holder', async () => {
    const lock = lockOf(60_000);
    for (const act of [
      (lease: LeaseId) => lock.extend(lease),
      (lease: LeaseId) => lock.release(lease, { as: 'done', holdFor: 60_000 }),
    ]) {
      for (const count of [0, 1, 20]) {
        const lease = await leaseOf(lock);
        let next = lease;
        const answer = await meanwhile(
          'link',
          () => act(lease),
          async () => {
            await lock.forceRelease('n', lease.token);
            await rounds(lock, count);
            next = await leaseOf(lock);
          },
        );
        expect(answer).toBe(false);
        expect(await lock.inspect('n')).toMatchObject({ state: 'running', token: next.token });
        expect(await lock.release(next, { as: 'done', holdFor: 0 })).toBe(true);
      }
    }
  });

  it('past its whole lease, before its acquire returns, does not get it', async () => {
    const lock = lockOf(30);
    await rounds(lockOf(60_000), 1);
    const answer = await meanwhile(
      'link',
      () => lock.acquire({ name: 'n' }),
      () => sleep(60),
    );
    expect(answer).toMatchObject({ kind: 'held', isBackoff: false });
    let next = await lock.acquire({ name: 'n' });
    for (; next.kind === 'held'; next = await lock.acquire({ name: 'n' })) await sleep(10); // until its lease has expired
    expect(next).toMatchObject({ kind: 'acquired', tookOver: true });
  });

  it('after its file has appeared, while others run rounds, gets the right result', async () => {
    const others = lockOf(60_000);
    await rounds(others, 3);
    for (const [count, expected] of [
      [0, true],
      [1, true],
      [7, true], // two states each
      [20, false], // others have deleted its first state: it tries again
    ] as const) {
      const lease = await leaseOf(lockOf(60_000));
      const release = () => lockOf(60_000).release(lease, { as: 'done', holdFor: 0 });
      expect(await meanwhile('open', release, () => rounds(others, count), 3)).toBe(expected);
      await rounds(others, 1);
    }
  });

  it('while its temporary file or its folder is deleted, starts again', async () => {
    const lock = lockOf(60_000);
    const answer = await meanwhile(
      'link',
      () => lock.acquire({ name: 'n' }),
      async () => rmSync(join(directory, 'lock-n'), { recursive: true }),
    );
    expect(answer.kind).toBe('acquired');
    const written = await meanwhile(
      'rename',
      () => fileStore({ directory, retention: Infinity }).write('n', 'payload', 5),
      async () => rmSync(join(directory, 'snapshot-n'), { recursive: true }),
    );
    expect(written.kind).toBe('written');
  });
});

describe('a writer without a token', () => {
  it('that is paused, while others write and delete its version, gets another version', async () => {
    const real = Date.now();
    const store = fileStore({ directory, retention: Infinity });
    const other = fileStore({ directory, retention: Infinity });
    const dateNow = vi.spyOn(Date, 'now').mockReturnValue(real); // so that all begin with the same version
    try {
      const versions: number[] = [];
      const late = await meanwhile(
        'link',
        () => store.write('n', 'late'),
        async () => {
          for (const payload of ['a', 'b']) versions.push((await other.write('n', payload)).version);
        },
      );
      expect([...versions, late.version]).toEqual([real * 1000, real * 1000 + 1, real * 1000 + 2]);
      expect(await store.read('n')).toMatchObject({ payload: 'late', version: late.version });
      expect(filesIn('snapshot-n')).toEqual([`${late.version}.snapshot`]);
    } finally {
      dateNow.mockRestore();
    }
  });
});

describe('a reader', () => {
  it('of a snapshot that is replaced meanwhile gets the next one', async () => {
    const store = fileStore({ directory, retention: Infinity });
    await store.write('n', 'first', 5);
    const snapshot = await meanwhile(
      'open',
      () => store.read('n'),
      () => fileStore({ directory, retention: Infinity }).write('n', 'second', 6),
    );
    expect(snapshot).toMatchObject({ payload: 'second', version: 6 });
  });

  it('of a record that is deleted meanwhile gets the present one', async () => {
    const lock = lockOf(60_000);
    await rounds(lock, 3);
    let token: number | undefined;
    const record = await meanwhile(
      'open',
      () => lockOf(60_000).inspect('n'),
      async () => {
        await rounds(lock, 20);
        token = (await leaseOf(lock)).token;
      },
    );
    expect(record).toMatchObject({ token, state: 'running' });
  });
});
