import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { sqliteLock } from '../../../src/lock/sqlite.ts';
import { backends, type Connected } from './support/backends.ts';

const HOUR = 3_600_000;
const RETENTION_MS = 1000;

/** Ends a round of it. The first one of a lock looks for old records, where the engine does not delete them itself. */
async function round(lock: Lock, name: string, holdFor = 0): Promise<void> {
  const answer = await lock.acquire({ name });
  if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor });
}

/** @param open gives a new lock each time. */
async function expectRetention(open: (retention: number) => Lock): Promise<void> {
  const lock = open(RETENTION_MS);
  await lock.acquire({ name: 'expired', leaseFor: 10 });
  await round(lock, 'done');
  await round(lock, 'held', HOUR);
  await lock.acquire({ name: 'running', leaseFor: HOUR });
  await vi.waitFor(
    async () => {
      await round(open(RETENTION_MS), 'another');
      const names = (await lock.list()).map(({ name }) => name);
      expect(names).toEqual(['another', 'held', 'running']);
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(await lock.inspect('done')).toBeUndefined();
}

async function expectNone(open: (retention: number) => Lock): Promise<void> {
  const lock = open(Infinity);
  await round(lock, 'done');
  await round(lock, 'another');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await lock.list()).map(({ name }) => name)).toEqual(['another', 'done']);
}

describe('records that nobody has used for the retention are deleted, and no others', () => {
  describe.each(backends)('$name', (backend) => {
    const space = `retention_${process.pid}_${backends.indexOf(backend)}`;
    let client: Connected;
    beforeAll(async () => {
      client = await backend.connect(inject(backend.engine).url);
    });
    afterAll(() => client?.destroy());

    it('as soon as it is over', () =>
      expectRetention((retention) => client.lock(space, { retention } as never)));

    it('without end, none is', () =>
      expectNone((retention) => client.lock(`${space}_kept`, { retention } as never)));
  });

  it('SQLite with better-sqlite3: as soon as it is over', async () => {
    const client = new Database(':memory:');
    await expectRetention((retention) => sqliteLock({ client, retention }));
    client.close();
  });

  it('SQLite with better-sqlite3: without end, none is', async () => {
    const client = new Database(':memory:');
    await expectNone((retention) => sqliteLock({ client, retention }));
    client.close();
  });
});
