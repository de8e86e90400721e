// Processes that stop before any of their steps: for ever (killed) or for a while (paused).
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileBackend } from '../../../src/backends/file.ts';
import type { LeaseId } from '../../../src/cluster/lock-contract.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { folderOf, states, texts } from '../files/record-files.ts';
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

/** A payload that is in a file of its own. */
const LONG = 'x'.repeat(4000);

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'crashes-'));
});

afterEach(() => {
  beforeStep = () => undefined;
  rmSync(directory, { recursive: true, force: true });
});

/** Without a retention, whose background deletions would be counted as steps. */
function lockFor(leaseFor: number): Lock {
  return lockOf(fileBackend({ directory, leaseFor, timeout: 60_000, retention: Infinity }));
}

/** Those of two processes. */
function storesOf(keepVersions: number): readonly [Store, Store] {
  const options = { directory, retention: Infinity, keepVersions, timeout: 60_000 };
  return [storeOf(fileBackend(options)), storeOf(fileBackend(options))];
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

function filesIn(record: string): string[] {
  return readdirSync(folderOf(directory, record));
}

describe('a killed process', () => {
  it('at any step of its first acquire blocks the others no longer than its lease', async () => {
    for (let step = 1; await killedAt(step, () => lockFor(20).acquire({ name: 'n' })); step += 1) {
      await freeAgain(lockFor(20), 5000);
      rmSync(directory, { recursive: true });
      expect(step).toBeLessThan(50);
    }
  });

  it('at any step of later operations likewise, and no token is issued twice', async () => {
    let token = 0;
    const steps: Record<string, (lease: LeaseId) => Promise<unknown>> = {
      extend: (lease) => lockFor(20).extend(lease),
      'release as done': (lease) => lockFor(20).release(lease, { as: 'done', holdFor: 0 }),
      'release as failed': (lease) => lockFor(20).release(lease, { as: 'failed', holdFor: 5 }),
      forceRelease: (lease) => lockFor(20).forceRelease('n', lease.token),
      'acquire after a release': async (lease) => {
        await lockFor(20).release(lease, { as: 'abandoned' });
        await lockFor(20).acquire({ name: 'n' });
      },
    };
    await rounds(lockFor(60_000), 20); // so that there are old states to delete
    for (const [name, act] of Object.entries(steps)) {
      for (let step = 1; ; step += 1) {
        const lease = await freeAgain(lockFor(20), 5000);
        for (const file of filesIn('lock/n')) {
          if (file.endsWith('.tmp')) rmSync(join(folderOf(directory, 'lock/n'), file)); // each would be a step more
        }
        expect(lease.token).toBeGreaterThan(token);
        token = lease.token;
        if (!(await killedAt(step, () => act(lease)))) break;
        expect(step, name).toBeLessThan(200);
      }
    }
  }, 60_000);

  it('leaves at most one temporary file per kill', async () => {
    await rounds(lockFor(60_000), 20);
    await freeAgain(lockFor(20), 1000);
    let kills = 0;
    for (let step = 1; await killedAt(step, () => lockFor(20).acquire({ name: 'n' })); step += 1) {
      kills += 1;
      await freeAgain(lockFor(20), 5000);
    }
    expect(filesIn('lock/n').filter((file) => file.endsWith('.tmp')).length).toBeLessThanOrEqual(kills);
    expect(filesIn('lock/n').filter((file) => file.endsWith('.json')).length).toBeLessThanOrEqual(18);
  });

  it.each([
    ['short', '', 1],
    ['long', LONG, 1],
    ['kept', LONG, 3],
  ] as const)(
    'at any step of a write leaves the previous snapshot, or its own: %s',
    async (_, begin, keepVersions) => {
      const store = () => storeOf(fileBackend({ directory, retention: Infinity, keepVersions }));
      for (const tokenOf of [(step: number) => 1000 + step, () => undefined]) {
        await store().write('n', `${begin}first`, tokenOf(0));
        let before = `${begin}first`;
        const written = new Map([[(await store().read('n'))?.version, before]]);
        for (let step = 1; ; step += 1) {
          const payload = `${begin}payload ${step}`;
          if (!(await killedAt(step, () => store().write('n', payload, tokenOf(step))))) break;
          const found = await store().read('n');
          expect([before, payload]).toContain(found?.payload);
          before = String(found?.payload);
          written.set(found?.version, before);
          for (const { version, damage } of await store().history('n')) {
            expect(damage).toBeUndefined();
            expect((await store().read('n', -1, version))?.payload).toBe(written.get(version));
          }
          expect(step).toBeLessThan(80);
        }
        expect((await store().history('n')).length).toBe(keepVersions);
        await store().delete('n');
        expect(await store().read('n')).toBeUndefined();
      }
    },
  );

  it('at any step of a delete leaves the snapshot, or none, and a later write is as the first', async () => {
    const store = () => storeOf(fileBackend({ directory, retention: Infinity, keepVersions: 2 }));
    for (let step = 1; ; step += 1) {
      for (const token of [5, 6]) await store().write('n', `${LONG}${token}`, token);
      const wasKilled = await killedAt(step, () => store().delete('n'));
      const found = await store().read('n');
      if (found !== undefined) expect(found).toMatchObject({ version: 6, payload: `${LONG}6` });
      const versions = (await store().history('n')).map(({ version }) => version);
      expect(versions).toEqual(found === undefined ? [] : [6, 5]);
      if (found === undefined)
        await store().write('n', 'next', 2); // an older token than before
      else await store().write('n', 'next', 7);
      expect(await store().read('n')).toMatchObject({ payload: 'next' });
      await store().delete('n');
      rmSync(directory, { recursive: true });
      if (!wasKilled) break;
      expect(step).toBeLessThan(80);
    }
  });

  it('of a delete leaves files that the sweep deletes', async () => {
    const store = () => storeOf(fileBackend({ directory, retention: Infinity }));
    await store().write('n', LONG, 5);
    const folder = folderOf(directory, 'snapshot/n');
    for (let step = 1; states(directory, 'snapshot/n').length < 3; step += 1) {
      await killedAt(step, () => store().delete('n'));
      expect(step).toBeLessThan(80);
    }
    expect(await store().read('n')).toBeUndefined();
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), 0, Date.now() / 1000 - 3600);
    await vi.waitFor(async () => {
      await storeOf(fileBackend({ directory })).write('m', 'payload');
      expect(existsSync(folder)).toBe(false);
    });
  });
});

describe('a paused process', () => {
  // Other processes have used its state number, and deleted it.
  it.each([0, 3])(
    'before its file appears, while others run rounds, does not get the lease: after %d rounds',
    async (before) => {
      const others = lockFor(60_000);
      await rounds(others, before);
      const answer = await meanwhile(
        'link',
        () => lockFor(60_000).acquire({ name: 'n', owner: 'late' }),
        async () => {
          await rounds(others, 20);
          await others.acquire({ name: 'n', owner: 'next' });
        },
      );
      expect(answer).toMatchObject({ kind: 'held', owner: 'next' });
      expect(filesIn('lock/n').length).toBeLessThanOrEqual(17);
    },
  );

  it('does not extend or release the lease of the next holder', async () => {
    const lock = lockFor(60_000);
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
    const lock = lockFor(30);
    await rounds(lockFor(60_000), 1);
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
    const others = lockFor(60_000);
    await rounds(others, 3);
    for (const [count, expected] of [
      [0, true],
      [1, true],
      [7, true], // two states each
      [20, false], // others have deleted its first state: it tries again
    ] as const) {
      const lease = await leaseOf(lockFor(60_000));
      const release = () => lockFor(60_000).release(lease, { as: 'done', holdFor: 0 });
      expect(await meanwhile('open', release, () => rounds(others, count), 3)).toBe(expected);
      await rounds(others, 1);
    }
  });

  it('while its temporary file or its folder is deleted, starts again', async () => {
    const lock = lockFor(60_000);
    const answer = await meanwhile(
      'link',
      () => lock.acquire({ name: 'n' }),
      async () => rmSync(folderOf(directory, 'lock/n'), { recursive: true }),
    );
    expect(answer.kind).toBe('acquired');
    const store = storeOf(fileBackend({ directory, retention: Infinity }));
    for (const count of [1, 2]) {
      const written = await meanwhile(
        'link',
        () => store.write('n', LONG, count),
        async () => rmSync(folderOf(directory, 'snapshot/n'), { recursive: true }),
        count,
      );
      expect(written.kind).toBe('written');
      expect((await store.read('n'))?.payload).toBe(LONG);
      expect(texts(directory, 'snapshot/n')).toHaveLength(1);
      await store.delete('n');
    }
  });

  it('whose payload is deleted as abandoned by another writer, writes it again', async () => {
    const [store, other] = storesOf(2);
    await other.write('n', `${LONG}5`, 5);
    const late = meanwhile(
      'link',
      () => store.write('n', `${LONG}7`, 7),
      async () => {
        for (const path of texts(directory, 'snapshot/n')) utimesSync(path, 0, Date.now() / 1000 - 3600);
        await other.write('n', `${LONG}6`, 6);
        expect(texts(directory, 'snapshot/n')).toHaveLength(2);
      },
    );
    expect(await late).toEqual({ kind: 'written', version: 7 });
    const payloads = [6, 7].map(async (version) => (await other.read('n', -1, version))?.payload);
    expect(await Promise.all(payloads)).toEqual([`${LONG}6`, `${LONG}7`]);
    expect(texts(directory, 'snapshot/n')).toHaveLength(2);
  });
});

describe('a writer without a token', () => {
  it('that is paused, while others write and delete its version, gets another version', async () => {
    const real = Date.now();
    const store = storeOf(fileBackend({ directory, retention: Infinity }));
    const other = storeOf(fileBackend({ directory, retention: Infinity }));
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
      expect((await store.history('n')).map(({ version }) => version)).toEqual([late.version]);
    } finally {
      dateNow.mockRestore();
    }
  });
});

describe('a reader', () => {
  it.each([
    ['a payload', 2, 1],
    ['a payload, and again', 2, 20],
    ['a state', 1, 20],
  ])('of a snapshot of which %s is replaced meanwhile gets the next one', async (_, count, writes) => {
    const [store, other] = storesOf(1);
    await store.write('n', LONG, 5);
    const snapshot = await meanwhile(
      'open',
      () => store.read('n'),
      async () => {
        for (let i = 1; i <= writes; i += 1) await other.write('n', `${LONG}${i}`, 5 + i);
      },
      count,
    );
    expect(snapshot).toEqual({ payload: `${LONG}${writes}`, version: 5 + writes, age: expect.any(Number) });
  });

  it('of a history gets the versions as they are after a write meanwhile', async () => {
    const [store, other] = storesOf(2);
    for (const token of [5, 6]) await store.write('n', LONG, token);
    const history = await meanwhile(
      'open',
      () => store.history('n'),
      async () => {
        for (const token of [7, 8]) await other.write('n', LONG, token);
      },
      2,
    );
    expect(history.map(({ version, damage }) => [version, damage])).toEqual([
      [8, undefined],
      [7, undefined],
    ]);
  });

  it('of a record that is deleted meanwhile gets the present one', async () => {
    const lock = lockFor(60_000);
    await rounds(lock, 3);
    let token: number | undefined;
    const record = await meanwhile(
      'open',
      () => lockFor(60_000).inspect('n'),
      async () => {
        await rounds(lock, 20);
        token = (await leaseOf(lock)).token;
      },
    );
    expect(record).toMatchObject({ token, state: 'running' });
  });
});
