import { describe, expect, it } from 'vitest';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { backendLockConformance } from '../../support/lock-conformance/index.ts';
import { lockOn } from '../../support/parts.ts';
import { CLOCKS, MemoryTexts, Server, swappedIn } from './memory-texts.ts';

function lockOf(texts: MemoryTexts): Lock {
  return lockOn(swappedIn(texts), {}, { longestName: undefined, options: [] });
}

async function leaseOf(lock: Lock, leaseFor: number) {
  const answer = await lock.acquire({ name: 'a', leaseFor });
  if (answer.kind !== 'acquired') throw new Error(answer.kind);
  return answer.lease;
}

describe('a lock on records that are swapped', () => {
  describe.concurrent.each(CLOCKS)('conformance, where %s', (_, one, another) => {
    const server = Server.ofNow();
    const [lock, other] = [one, another].map((bounds) => lockOf(new MemoryTexts(server, ...bounds)));
    const subject = { lock: () => lock as Lock, other: () => other as Lock };
    for (const { name, run } of backendLockConformance(subject)) it(name, run);
  });

  // The clock is known to a second: one client may believe that it is earlier, another that it is later.
  it.each([
    [-900, 100, -50, 950],
    [-50, 950, -950, 50],
    [-1000, 0, 0, 1000],
  ])(
    'takes no lease over before its end, where the clock is known from %d to %d and from %d to %d',
    async (...bounds) => {
      const server = new Server();
      const holder = lockOf(new MemoryTexts(server, bounds[0], bounds[1]));
      const other = lockOf(new MemoryTexts(server, bounds[2], bounds[3]));
      const lease = await leaseOf(holder, 5000);
      expect(lease.remaining).toBe(5000);
      server.now += 4999;
      expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'held' });
      expect(await holder.extend(lease, 3000)).toBe(true);
      server.now += 2999;
      expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'held' });
      server.now += 2001;
      expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'acquired', tookOver: true });
      expect(await holder.release(lease, { as: 'done', holdFor: 0 })).toBe(false);
    },
  );

  it('a released or freed name is free at once, also for one that believes it is earlier', async () => {
    const server = new Server();
    const [holder, other] = [lockOf(new MemoryTexts(server)), lockOf(new MemoryTexts(server, -1000, 0))];
    await holder.release(await leaseOf(holder, 5000), { as: 'abandoned' });
    const lease = await leaseOf(other, 5000);
    expect(await holder.forceRelease('a', lease.token)).toBe(true);
    await leaseOf(other, 5000);
  });

  it('a hold lasts as long as asked for, at least', async () => {
    const server = new Server();
    const holder = lockOf(new MemoryTexts(server, -1000, 0));
    const other = lockOf(new MemoryTexts(server, 0, 1000));
    await holder.release(await leaseOf(holder, 5000), { as: 'done', holdFor: 5000 });
    server.now += 4999;
    expect(await other.acquire({ name: 'a' })).toMatchObject({
      kind: 'done',
      retryAfter: expect.closeTo(1, 2),
    });
    server.now += 2;
    expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'acquired' });
  });

  it('the time that is left is that until it is over for certain: who asks then asks once', async () => {
    const server = new Server();
    const holder = lockOf(new MemoryTexts(server, 0, 0));
    const other = new MemoryTexts(server, -2, 3);
    await holder.release(await leaseOf(holder, 5000), { as: 'done', holdFor: 5000 });
    server.now += 4000;
    const answer = await lockOf(other).acquire({ name: 'a' });
    const { retryAfter } = answer as { readonly retryAfter: number };
    expect(retryAfter).toBeGreaterThanOrEqual(1002);
    expect(retryAfter).toBeLessThan(1005);
  });

  it('a holder never counts on more of its lease than it has asked for', async () => {
    const lease = await leaseOf(lockOf(new MemoryTexts(new Server(), -1000, 0)), 500);
    expect(lease.remaining).toBe(500);
  });

  it('an acquire that is answered after the end of its lease is one all the same, as with other backends', async () => {
    const server = new Server();
    const records = new MemoryTexts(server, -1000, 0);
    records.before = (command) => {
      if (command === 'swap') server.now += 700;
    };
    expect((await leaseOf(lockOf(records), 500)).remaining).toBe(500); // from the request on
  });

  it('a lease that was decided before the machine was suspended lasts as long as asked for', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const lock = lockOf(records);
    records.before = (command) => {
      if (command !== 'swap') return;
      server.now += 6000;
      records.suspendedMs += 6000;
      records.before = () => {};
    };
    await leaseOf(lock, 5000);
    server.now += 4999;
    expect(await lockOf(new MemoryTexts(server)).acquire({ name: 'a' })).toMatchObject({ kind: 'held' });
  });

  it('a lease that was decided before the clock of the server was set back is one for all', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const lock = lockOf(records);
    await lock.release(await leaseOf(lock, 5000), { as: 'abandoned' });
    server.now -= 61_000; // that of the machine goes on
    records.suspendedMs -= 61_000;
    const lease = await leaseOf(lock, 5000);
    expect(await lockOf(new MemoryTexts(server)).acquire({ name: 'a' })).toMatchObject({ kind: 'held' });
    expect(await lock.extend(lease, 5000)).toBe(true);
  });

  it('an end that is known to a second is awaited in a handful of steps', async () => {
    const server = new Server();
    const other = lockOf(new MemoryTexts(server, -1000, 0));
    await lockOf(new MemoryTexts(server)).acquire({ name: 'a', leaseFor: 5000 });
    const steps: number[] = [];
    for (;;) {
      const answer = await other.acquire({ name: 'a' });
      if (answer.kind === 'acquired') break;
      steps.push(answer.retryAfter);
      server.now += answer.retryAfter;
    }
    expect(steps[0]).toBe(5000);
    expect(steps.length).toBeLessThan(10);
  });

  it('a round is an acquire and a release of one command each; others need one or two', async () => {
    const server = new Server();
    const [mine, its] = [new MemoryTexts(server), new MemoryTexts(server)];
    const [lock, other] = [lockOf(mine), lockOf(its)];
    await lock.release(await leaseOf(lock, 5000), { as: 'done', holdFor: 0 });
    await other.acquire({ name: 'a', leaseFor: 1 });
    server.now += 2;
    for (const { commands } of [mine, its]) commands.length = 0;
    await lock.release(await leaseOf(lock, 5000), { as: 'done', holdFor: 5000 }); // its record is known no more
    expect(mine.commands).toEqual(['swap', 'swap', 'swap']);
    server.now += 5001;
    mine.commands.length = 0;
    await lock.release(await leaseOf(lock, 5000), { as: 'done', holdFor: 5000 });
    expect(mine.commands).toEqual(['swap', 'swap']);
    expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'done' });
    expect(its.commands).toEqual(['swap']);
    const first = new MemoryTexts(server);
    expect(await lockOf(first).acquire({ name: 'a' })).toMatchObject({ kind: 'done' });
    expect(first.commands).toEqual(['read']);
  });

  it('the last thousand records are remembered, each under its name, unless they are long', async () => {
    const records = new MemoryTexts(new Server());
    const lock = lockOf(records);
    const commandsOf = async (name: string, error?: string): Promise<string[]> => {
      records.commands.length = 0;
      const answer = await lock.acquire({ name });
      if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'failed', holdFor: 0, error });
      return records.commands;
    };
    await commandsOf('a');
    for (let i = 1; i < 1000; i += 1) await commandsOf(String(i));
    expect(await commandsOf('a')).toEqual(['swap', 'swap']);
    await commandsOf('another');
    const taken = ['swap', 'swap', 'swap']; // an unknown record is taken for absent at first
    expect(await commandsOf('1')).toEqual(taken);
    await commandsOf('a', 'x'.repeat(16_000));
    expect(await commandsOf('a')).toEqual(taken);
  });

  it('where the clock is known to more than a second and a half, it is asked first', async () => {
    const records = new MemoryTexts(new Server(), -1000, 1000);
    const lock = lockOf(records);
    await lock.release(await leaseOf(lock, 5000), { as: 'abandoned' });
    expect(records.commands).toEqual(['read', 'swap', 'read', 'swap']);
  });

  it('a step that others are always faster than ends at its timeout, and changes nothing later', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    records.timeoutMs = 20;
    let writes = 0;
    records.before = () => {
      server.texts.set('name/a\0v1', String(writes++));
      server.now += 1;
    };
    await expect(lockOf(records).acquire({ name: 'a' })).rejects.toThrow('other instances were faster');
  });

  it('a text that is no record is replaced, and reported', async () => {
    const server = new Server();
    server.texts.set('name/a\0v1', '<html>');
    const answer = await lockOf(new MemoryTexts(server)).acquire({ name: 'a' });
    expect(answer).toMatchObject({ kind: 'acquired', damage: expect.any(String) });
    expect(await lockOf(new MemoryTexts(server)).inspect('a')).toMatchObject({ state: 'running' });
  });
});
