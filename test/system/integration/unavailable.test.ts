import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { AcquireAnswer } from '../../../src/cluster/lock-contract.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../support/lease.ts';
import { backends, type Connected } from './support/backends.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import { startProxy } from './support/proxy.ts';
import type { RealServer } from './support/servers.ts';

// Servers that freeze, die, restart, or restart empty. An unhandled rejection fails the whole run.

const TIMEOUT_MS = 400;
/** On top of the timeout: the machine is busy. */
const ROOM_MS = 1500;

/** Outcome and duration of each step of a lock and a store. */
async function steps(lock: Lock, store: Store, name: string): Promise<Outcome[]> {
  const lease = { name, requestId: 'somebody', token: 1 };
  const all: Readonly<Record<string, () => Promise<unknown>>> = {
    acquire: () => lock.acquire({ name }),
    extend: () => lock.extend(lease),
    release: () => lock.release(lease, { as: 'done', holdFor: 0 }),
    inspect: () => lock.inspect(name),
    list: () => lock.list(),
    forceRelease: () => lock.forceRelease(name, 1),
    read: () => store.read(name),
    write: () => store.write(name, 'payload'),
    delete: () => store.delete(name),
  };
  return Promise.all(
    Object.entries(all).map(async ([step, run]) => {
      const begun = performance.now();
      const error = await run().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return { step, error, took: performance.now() - begun };
    }),
  );
}

interface Adapters {
  readonly lock: Lock;
  readonly store: Store;
  readonly client: Connected;
}

interface Outcome {
  readonly step: string;
  readonly error: unknown;
  readonly took: number;
}

/** All steps were rejected in time, with an error that names the step's object and the reason. */
function expectUnavailable(outcomes: readonly Outcome[]): void {
  for (const { step, error, took } of outcomes) {
    expect.soft(error, step).toMatchObject({
      code: 'BACKEND_DOWN',
      message: expect.stringContaining('the backend is unavailable: '),
      cause: expect.any(Error),
    });
    expect.soft(took, step).toBeLessThan(TIMEOUT_MS + ROOM_MS);
  }
}

let spaces = 0;

describe.each(ownKinds)('%s', (kind) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startOwn(kind);
  });
  afterAll(() => server?.close());

  describe.each(backends.filter(({ engine }) => engine === kind))('$name', (backend) => {
    const clients: Connected[] = [];
    let space: string;
    const connect = async (url = server.url): Promise<Adapters> => {
      const client = await backend.connect(url);
      clients.push(client);
      const options = { timeout: TIMEOUT_MS };
      return { client, lock: client.lock(space, options), store: client.store(space, options) };
    };
    beforeEach(() => {
      space = `unavailable_${++spaces}`;
    });
    afterEach(() => {
      for (const client of clients.splice(0)) client.destroy();
    });

    it('a frozen server: each step rejects in time, and works again after the thaw', async () => {
      const { lock, store } = await connect();
      const first = await leaseOf(lock, { name: 'warm' });
      await lock.release(first, { as: 'abandoned' });
      await store.write('warm', 'payload');
      server.freeze();
      try {
        expectUnavailable(await steps(lock, store, 'hangs'));
        expectUnavailable(await steps(lock, store, 'hangs'));
      } finally {
        server.thaw();
      }
      // The server executes the sent commands late: an unused lease may hold the name.
      await untilServed({ lock, store });
      expect((await leaseOf(lock, { name: 'warm' })).token).toBeGreaterThan(first.token);
    });

    it('a killed server: each step rejects in time, and works again after a restart with the data', async () => {
      const before = await connect();
      const held = await leaseOf(before.lock, { name: 'killed' });
      const written = await before.store.write('killed', 'payload');
      await server.kill();
      try {
        expectUnavailable(await steps(before.lock, before.store, 'gone'));
      } finally {
        await server.restart();
      }
      const after = backend.reconnects === false ? await connect() : before;
      await untilServed(after);
      const { token } = held;
      expect(await after.lock.acquire({ name: 'killed' })).toMatchObject({ kind: 'held', token });
      expect(await after.lock.release(held, { as: 'done', holdFor: 0 })).toBe(true);
      expect((await leaseOf(after.lock, { name: 'killed' })).token).toBeGreaterThan(token);
      const { version } = written;
      expect(await after.store.read('killed')).toMatchObject({ version, payload: 'payload' });
    });

    it('a server that restarts empty: steps work, and tokens and versions still grow', async () => {
      const before = await connect();
      const held = await leaseOf(before.lock, { name: 'emptied' });
      const written = await before.store.write('emptied', 'payload');
      await server.restart({ empty: true });
      const after = backend.reconnects === false ? await connect() : before;
      await untilServed(after);
      expect(await after.store.read('emptied')).toBeUndefined();
      expect(await after.lock.extend(held)).toBe(false);
      expect((await leaseOf(after.lock, { name: 'emptied' })).token).toBeGreaterThan(held.token);
      expect((await after.store.write('emptied', 'next')).version).toBeGreaterThan(written.version);
    });

    it('a lost reply: a repeat of the same request gives the same result', async () => {
      const proxy = await startProxy(server);
      onTestFinished(() => proxy.close());
      const direct = await connect();
      let through = await connect(proxy.url);
      await through.lock.acquire({ name: 'warm-up' });
      await through.store.write('warm-up', 'payload');
      await sleep(500); // old records are deleted behind the first write
      /** The first time the command arrives, but the client hears nothing of it, and nothing more on that connection. */
      const twice = async <R>(step: (adapters: Adapters) => Promise<R>): Promise<R> => {
        const lost = proxy.loseReplies({ then: 'silence' });
        await expect(step(through)).rejects.toThrow(/is unavailable/);
        await lost;
        const answer = await step(direct);
        proxy.cut();
        if (backend.reconnects === false) through = await connect(proxy.url);
        await untilServed(through);
        return answer;
      };
      const request = { name: 'lost', requestId: 'once', leaseFor: 30_000 };
      const answer = await twice(({ lock }) => lock.acquire(request));
      expect(answer).toMatchObject({ kind: 'acquired', tookOver: false });
      const { lease } = answer as Extract<AcquireAnswer, { kind: 'acquired' }>;
      const { token } = lease;
      expect(await direct.lock.acquire(request)).toMatchObject({ kind: 'acquired', lease: { token } });
      expect(await twice(({ lock }) => lock.extend(lease, 60_000))).toBe(true);
      const written = await twice(({ store }) => store.write('lost', 'payload', token));
      expect(written).toEqual({ kind: 'written', version: token });
      expect(await twice(({ lock }) => lock.release(lease, { as: 'done', holdFor: 60_000 }))).toBe(true);
      expect(await direct.lock.inspect('lost')).toMatchObject({ state: 'done', token });
    });

    it('a closed client: each step rejects at once, and says so', async () => {
      const { lock, store, client } = await connect();
      await lock.acquire({ name: 'closed' });
      await store.write('closed', 'payload');
      await client.close();
      const outcomes = await steps(lock, store, 'closed');
      expectUnavailable(outcomes);
      for (const { step, error } of outcomes) {
        expect.soft(String(error), step).toMatch(/clos|end|not queryable/i);
        expect.soft(String(error), step).not.toMatch(/no answer within/);
      }
    });
  });
});

/** Asks until it is answered: clients wait a while before they connect again. */
async function untilServed({ lock, store }: Omit<Adapters, 'client'>): Promise<void> {
  const endAt = performance.now() + 15_000;
  for (;;) {
    try {
      await Promise.all([lock.inspect('any'), store.read('any')]);
      return;
    } catch (error) {
      if (performance.now() > endAt) throw error;
      await sleep(50);
    }
  }
}
