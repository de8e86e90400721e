import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { onRound } from '../../support/events.ts';
import { leaseOf } from '../../support/lease.ts';
import { backends } from './support/backends.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import { startProxy } from './support/proxy.ts';
import type { RealServer } from './support/servers.ts';

/** Between two checks: what is counted are the commands of rounds. */
const RARE = { days: 1000 } as const;

/** Each client has names that no other one has changed. */
const spaceOf = (client: string): string => client.replaceAll(/\W+/g, '_');

describe.each(ownKinds)('%s', (kind) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startOwn(kind);
  });
  afterAll(() => server?.close());

  const ofThisKind = backends.filter(({ engine }) => engine === kind);
  it.each(ofThisKind)(
    '$name: each step is one command',
    async ({ name: own, connect, acquireCommands: changing = 1 }) => {
      const proxy = await startProxy(server);
      const client = await connect(proxy.url);
      onTestFinished(async () => {
        client.destroy();
        await proxy.close();
      });
      const place = spaceOf(own);
      const [lock, store] = [client.lock(place), client.store(place)];
      const counts = async (): Promise<{ server: number; wire: number }> => ({
        server: await server.commandsServed(),
        wire: proxy.commands.length,
      });
      /** By the server's own count, and by what has passed the wire. */
      const expectCommands = async <R>(expected: number, step: () => Promise<R>): Promise<R> => {
        const before = await counts();
        const answer = await step();
        const after = await counts();
        const found = { server: after.server - before.server, wire: after.wire - before.wire };
        expect.soft(found, String(step)).toEqual({ server: expected, wire: expected });
        return answer;
      };
      // Makes the tables, and has the server learn the scripts.
      const first = await leaseOf(lock, { name: 'warm-up' });
      await lock.inspect('warm-up');
      await lock.extend(first);
      await lock.release(first, { as: 'abandoned' });
      await lock.forceRelease('warm-up', 1);
      await store.write('warm-up', 'payload');
      await store.write('warm-up', 'payload', 1);
      await store.read('warm-up');
      await store.delete('warm-up');
      const older = client.store(place, { keepVersions: 3 });
      for (const token of [1, undefined]) await older.write('warm-up', 'payload', token);
      await older.read('warm-up', undefined, 1);
      await older.history('warm-up');
      await older.delete('warm-up');
      const report = { instance: 'one', text: '{"a":1}', keepFor: 60_000 };
      for (const any of [older, store]) await any.versions(['warm-up'], report); // old ones are purged behind it
      await store.reports();
      await quiet(() => server.commandsServed());

      const lease = await expectCommands(changing, () => leaseOf(lock, { name: 'one' }));
      await expectCommands(1, () => lock.acquire({ name: 'one' })); // held
      await expectCommands(changing, () => lock.extend(lease));
      await expectCommands(changing, () => lock.release(lease, { as: 'done', holdFor: 60_000 }));
      await expectCommands(1, () => lock.acquire({ name: 'one' })); // done
      await expectCommands(1, () => lock.inspect('one'));
      await expectCommands(changing, () => lock.forceRelease('one', lease.token));
      await expectCommands(changing, () => store.write('one', 'payload', lease.token));
      await expectCommands(1, () => store.write('one', 'payload', 1)); // refused
      await expectCommands(changing, () => store.write('one', 'payload'));
      await expectCommands(1, () => store.read('one'));
      await expectCommands(1, () => store.read('one', lease.token));
      await expectCommands(2, () => store.delete('one')); // a look: one that was deleted meanwhile would count as done

      const sharesCommands = kind !== 'mariadb';
      for (const count of [1, 100, 500, 1000]) {
        const names = Array.from({ length: count }, (_, i) => `name ${i}`);
        const reading = kind === 'redis' ? 1 : Math.ceil(count / 500);
        await expectCommands(reading, () => store.versions(names));
        // PostgreSQL sends one statement for 500 edits, whatever they do.
        const both = kind === 'postgres' ? Math.ceil((count + 1) / 500) : reading;
        await expectCommands(sharesCommands ? both : both + changing, () => store.versions(names, report));
        await quiet(() => server.commandsServed()); // old reports are deleted behind it every few seconds
      }
      const looks = kind === 'redis' ? 2 : 1; // their names, and then each
      expect(await expectCommands(looks, () => store.reports())).toHaveLength(1);

      // With the commands of a round: where it would be another command it is dropped.
      const backend = client.open(`${place}_members`);
      const publish = async (name: string): Promise<RefreshingValue<number>> => {
        const member = new RefreshingValue({ name, backend, schedule: { hours: 1 }, load: () => 1 });
        const published = new Promise((resolve) => onRound(member, 'published', resolve));
        await member.get();
        await published;
        return member;
      };
      const earlier = await publish('earlier'); // makes the table, and asks once for what the backend warns of
      await quiet(() => server.commandsServed());
      const member = await expectCommands(1 + 2 * changing, () => publish('member')); // a read, the lease, the write
      expect(await backend.store.reports()).toHaveLength(sharesCommands ? 1 : 0);
      await earlier.close();
      await member.close();
      await quiet(() => server.commandsServed());

      for (const token of [5, 6, 7, 8])
        await expectCommands(changing, () => older.write('one', 'payload', token));
      await expectCommands(1, () => older.write('one', 'payload', 1)); // refused
      await expectCommands(changing, () => older.write('one', 'payload'));
      await expectCommands(1, () => older.read('one'));
      await expectCommands(1, () => older.read('one', undefined, 8));
      expect(await expectCommands(1, () => older.history('one'))).toHaveLength(3);
      await expectCommands(2, () => older.delete('one'));
    },
  );

  it.each(ofThisKind)(
    '$name: 500 cold keys of loadMany are a handful of commands',
    async ({ name: own, connect, acquireCommands = 1 }) => {
      const client = await connect(server.url);
      onTestFinished(() => client.destroy());
      const patient = { timeout: 10_000 }; // a busy machine: what counts is the commands
      const place = spaceOf(own);
      const space = { backend: client.open(place, patient) };
      const open = (name: string) =>
        new RefreshingCache({
          ...{ ...space, name, schedule: { hours: 1 }, propagateWithin: RARE, timeout: 60_000 },
          loadMany: async (keys: readonly number[]) => new Map(keys.map((key) => [key, `${name} ${key}`])),
        });
      const states = async (name: string): Promise<string[]> => {
        const records = await space.backend.lock.list({ prefix: `${name}[` });
        return records.map(({ state }) => state);
      };
      const keys = Array.from({ length: 500 }, (_, i) => i);
      const commandsOf = async (name: string): Promise<number> => {
        const before = await server.commandsServed();
        const cache = open(name);
        const found = await cache.getMany(keys);
        await cache.close(); // the results are published, and the leases released, behind the reads
        expect([found.size, found.get(499)]).toEqual([500, `${name} 499`]);
        await quiet(() => server.commandsServed());
        return (await server.commandsServed()) - before;
      };
      // A table, a pass that deletes, a look for the clock each, and one key that asks before the others: see docs/cluster.md.
      const isMysql = acquireCommands > 1; // reads what it has written
      const first = await commandsOf('first');
      const next = await commandsOf('k');
      console.log(`${own}: ${first} commands at first, and ${next}`);
      expect(first).toBeLessThanOrEqual(kind === 'redis' ? 14 : isMysql ? 26 : 20);
      expect(next).toBeLessThanOrEqual(isMysql ? 10 : 7);
      expect(new Set(await states('k'))).toEqual(new Set(['done']));
      expect(await states('k')).toHaveLength(500);
      expect(await commandsOf('k')).toBeLessThanOrEqual(2); // adopts all
    },
  );

  it.each(ofThisKind)(
    '$name: long loads of 500 keys, and instances that wait for them, are a handful of commands',
    async ({ name: own, connect, acquireCommands = 1 }) => {
      const instances = await Promise.all(Array.from({ length: 6 }, () => connect(server.url)));
      const place = `long_${own.replaceAll(/\W+/g, '_')}`;
      const patient = { timeout: 10_000 }; // a busy machine: what counts is the commands
      const keys = Array.from({ length: 500 }, (_, i) => i);
      const open = instances.map((client) => {
        const clock = { ...systemClock }; // as in a process of its own: those who wait share timers by the clock
        const shared = {
          backend: client.open(place, { ...patient, leaseFor: 3000 }),
          schedule: { hours: 1 },
          propagateWithin: RARE,
          timeout: 60_000,
          clock,
        };
        return (name: string, ms: number) =>
          new RefreshingCache({
            ...{ ...shared, name },
            loadMany: async (some: readonly number[]) => {
              await sleep(ms);
              return new Map(some.map((key) => [key, `${name} ${key}`]));
            },
          });
      });
      const [winner, ...others] = open as [(typeof open)[number], ...typeof open];
      let [waitedMs, tookMs] = [0, 0];
      /** What a load costs, with a crowd that waits for it. */
      const commandsOf = async (name: string, ms: number, crowd: typeof open): Promise<number> => {
        const before = await server.commandsServed();
        const begun = performance.now();
        const first = winner(name, ms);
        const reads = [first.getMany(keys)];
        await sleep(200); // it has its leases
        const since = performance.now();
        const caches = crowd.map((instance) => instance(name, 0));
        reads.push(...caches.map((cache) => cache.getMany(keys)));
        for (const found of await Promise.all(reads)) expect(found.get(499)).toBe(`${name} 499`);
        [waitedMs, tookMs] = [performance.now() - since, performance.now() - begun];
        await Promise.all([first, ...caches].map((cache) => cache.close()));
        await quiet(() => server.commandsServed());
        return (await server.commandsServed()) - before;
      };
      onTestFinished(() => {
        for (const client of instances) client.destroy();
      });
      for (const one of open) await one(`warm-up ${open.indexOf(one)}`, 0).getMany(keys.slice(0, 2)); // tables, scripts
      await quiet(() => server.commandsServed());
      const short = await commandsOf('short', 0, []);
      const middle = await commandsOf('middle', 2700, []);
      expect(middle - short).toBeLessThanOrEqual(10); // 2 of each key, and they are acquired by two commands
      const long = await commandsOf('long', 6000, []);
      // However long it takes on a busy machine: two for each third of the lease, and a handful more.
      expect(long - short).toBeLessThanOrEqual((2 * Math.ceil(tookMs / 1000) + 8) * acquireCommands);
      const crowded = await commandsOf('crowd', 2700, others);
      // However busy the machine is: the questions that one would ask in that time, and a handful before and after them.
      const ofEach = (questionsIn(waitedMs) + 8) * acquireCommands;
      console.log(
        `${own}: ${crowded - middle} commands of ${others.length} that wait for ${waitedMs.toFixed(0)} ms, at most ${ofEach} each`,
      );
      expect(crowded - middle).toBeLessThanOrEqual(others.length * ofEach);
    },
    120_000,
  );
});

/** How often one asks that waits: after 25 ms, then after pauses of half as much again each, of a second at most. */
function questionsIn(ms: number): number {
  let questions = 0;
  for (let [at, pause] = [25, 25]; at <= ms; at += pause) {
    questions += 1;
    pause = Math.min(1.5 * pause, 950);
  }
  return questions;
}

/** Waits until nothing more is asked of a server: old records are purged behind the first release. */
async function quiet(count: () => Promise<number>): Promise<void> {
  for (let last = -1, now = await count(); last !== now; [last, now] = [now, await count()]) await sleep(100);
}
