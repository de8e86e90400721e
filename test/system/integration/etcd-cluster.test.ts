import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EtcdFetch, etcdBackend } from '../../../src/backends/etcd.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
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

  /** Reads the value of an instance all the time. @returns the versions that it had, in their order. */
  function follow(adapters: ReturnType<typeof open>) {
    const versions: number[] = [];
    let loads = 0;
    let isOver = false;
    const value = new RefreshingValue({
      ...{ name: 'often', load: () => ++loads, schedule: 100, logger: false as const },
      backend: adapters,
    });
    const reads = (async () => {
      while (!isOver) {
        await value.get();
        const { version } = value.inspect().lock ?? {};
        if (version !== undefined && version !== versions.at(-1)) versions.push(version);
        await sleep(10);
      }
    })();
    reads.catch(() => {}); // awaited at the end
    const end = async (): Promise<void> => {
      isOver = true;
      await reads; // no read has failed
      await value.close();
    };
    closings.push(end);
    return { versions, end };
  }

  const newest = ({ versions }: ReturnType<typeof follow>): number => versions.at(-1) ?? 0;

  async function furtherOn(all: readonly ReturnType<typeof follow>[]): Promise<void> {
    const from = Math.max(...all.map(newest));
    await expect.poll(() => all.every((each) => newest(each) > from)).toBe(true);
  }

  const isAscending = (versions: readonly number[]): boolean =>
    versions.every((version, i) => i === 0 || version > (versions[i - 1] as number));

  it('each member is lost in its turn: loading goes on, nothing is lost, no version goes back', async () => {
    const instances = [open('a/', 0), open('a/', 1)] as const;
    const [one, another] = instances;
    const kept = await one.lock.acquire({ name: 'kept', leaseFor: HOUR_MS });
    if (kept.kind !== 'acquired') throw new Error(`is ${kept.kind}`);
    await one.store.write('kept', 'a payload');
    const all = instances.map(follow);
    await furtherOn(all);
    for (const member of cluster.members) {
      await member.kill(); // one of them leads
      await furtherOn(all);
      expect((await another.lock.acquire({ name: 'kept' })).kind).toBe('held');
      expect(await one.lock.extend(kept.lease, HOUR_MS)).toBe(true);
      expect((await another.store.read('kept'))?.payload).toBe('a payload');
      await member.restart();
      await furtherOn(all);
    }
    for (const { end } of all) await end();
    for (const { versions } of all) expect(versions).toSatisfy(isAscending);
  });

  it('two members are lost: reads go on, and loads without the lock; when one is back all go together again', async () => {
    const instances = [open('b/', 0), open('b/', 0)] as const;
    const all = instances.map(follow);
    await furtherOn(all);
    const [first, second] = cluster.members;
    await Promise.all([first?.kill(), second?.kill()]);
    await expect(instances[0].lock.acquire({ name: 'any' })).rejects.toThrow();
    await second?.restart();
    await furtherOn(all);
    await first?.restart();
    for (const { end } of all) await end();
    for (const { versions } of all) expect(versions).toSatisfy(isAscending);
  });

  it('a member whose clock is 5 s ahead: leases are over early, tokens grow, no version goes back', async () => {
    const ahead: EtcdFetch = async (url, init) => {
      const response = await fetch(url, init);
      const date = new Date(Date.parse(String(response.headers.get('date'))) + 5000).toUTCString();
      const { ok, status } = response;
      return { ok, status, headers: { get: () => date }, json: () => response.json() };
    };
    const [one, another] = [open('c/', 0), open('c/', 1, ahead)];
    const first = await one.lock.acquire({ name: 'lost', leaseFor: 1500 });
    const second = await another.lock.acquire({ name: 'lost' });
    if (first.kind !== 'acquired' || second.kind !== 'acquired') throw new Error('not acquired');
    expect(second.lease.token).toBeGreaterThan(first.lease.token);
    expect(await one.lock.extend(first.lease, HOUR_MS)).toBe(false);
    expect((await one.store.write('lost', 'new', second.lease.token)).kind).toBe('written');
    expect((await one.store.write('lost', 'old', first.lease.token)).kind).toBe('refused');

    const all = [follow(one), follow(another)];
    for (let i = 0; i < 2; i += 1) await furtherOn(all);
    for (const { end } of all) await end();
    for (const { versions } of all) expect(versions).toSatisfy(isAscending);
  });
});
