import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EtcdFetch, etcdBackend } from '../../../src/backends/etcd.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { expectNoneWentBack, type Followed, follow, furtherOn } from './support/follow.ts';
import { type EtcdCluster, startEtcdCluster } from './support/servers.ts';

const HOUR_MS = 3_600_000;

/** Three members, of which two must answer each other. */
describe('a cluster of etcd', () => {
  const closings: (() => unknown)[] = [];
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await startEtcdCluster();
  });
  afterAll(async () => {
    for (const close of closings.splice(0).reverse()) await close();
    await cluster?.close();
  });

  /** An instance that asks one of the members first. @param fetch sends its requests. */
  function open(prefix: string, first: number, fetch?: EtcdFetch) {
    const urls = cluster.members.map(({ url }) => url);
    const endpoints = [...urls.slice(first), ...urls.slice(0, first)];
    const given = { endpoints, prefix, timeout: 2000, fetch };
    const backend = etcdBackend({ ...given, leaseFor: 5000 });
    return { lock: lockOf(backend), store: storeOf(backend) };
  }

  function followed(adapters: ReturnType<typeof open>): Followed {
    const one = follow(adapters);
    closings.push(one.end);
    return one;
  }

  it('each member is lost in its turn: loading goes on, nothing is lost, no version goes back', async () => {
    const instances = [open('a/', 0), open('a/', 1)] as const;
    const [one, another] = instances;
    const kept = await leaseOf(one.lock, { name: 'kept', leaseFor: HOUR_MS });
    await one.store.write('kept', 'a payload');
    const all = instances.map(followed);
    await furtherOn(all);
    for (const member of cluster.members) {
      await member.kill(); // one of them leads
      await furtherOn(all);
      expect((await another.lock.acquire({ name: 'kept' })).kind).toBe('held');
      expect(await one.lock.extend(kept, HOUR_MS)).toBe(true);
      expect((await another.store.read('kept'))?.payload).toBe('a payload');
      await member.restart();
      await furtherOn(all);
    }
    await expectNoneWentBack(all);
  });

  it('two members are lost: reads go on, and loads without the lock; when one is back all go together again', async () => {
    const instances = [open('b/', 0), open('b/', 0)] as const;
    const all = instances.map(followed);
    await furtherOn(all);
    const [first, second] = cluster.members;
    await Promise.all([first?.kill(), second?.kill()]);
    await expect(instances[0].lock.acquire({ name: 'any' })).rejects.toThrow();
    await second?.restart();
    await furtherOn(all);
    await first?.restart();
    await expectNoneWentBack(all);
  });

  it('a member whose clock is 5 s ahead: leases are over early, tokens grow, no version goes back', async () => {
    const ahead: EtcdFetch = async (url, init) => {
      const response = await fetch(url, init);
      const date = new Date(Date.parse(String(response.headers.get('date'))) + 5000).toUTCString();
      const { ok, status } = response;
      return { ok, status, headers: { get: () => date }, json: () => response.json() };
    };
    const [one, another] = [open('c/', 0), open('c/', 1, ahead)];
    const first = await leaseOf(one.lock, { name: 'lost', leaseFor: 1500 });
    const second = await leaseOf(another.lock, { name: 'lost' });
    expect(second.token).toBeGreaterThan(first.token);
    expect(await one.lock.extend(first, HOUR_MS)).toBe(false);
    expect((await one.store.write('lost', 'new', second.token)).kind).toBe('written');
    expect((await one.store.write('lost', 'old', first.token)).kind).toBe('refused');

    const all = [followed(one), followed(another)];
    for (let i = 0; i < 2; i += 1) await furtherOn(all);
    await expectNoneWentBack(all);
  });
});
