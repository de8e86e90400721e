import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type Instance, LEASE_MS, type Link, ManualCluster, warmOne } from '../../support/cluster.ts';
import { keyedInstance, loadKey } from '../../support/keyed-cluster.ts';
import { settled } from '../../support/settle.ts';

/** Milliseconds until a cold value on this link is answered, with a source that answers at once. */
async function coldRead({ clock }: ManualCluster, link: Link, name: string): Promise<number> {
  const begun = clock.monotonic();
  let answeredAt = Number.NaN;
  const { lock, store } = link;
  const value = new RefreshingValue({
    name,
    load: async () => name,
    clock,
    logger: false,
    backend: { lock, store },
  });
  void value.get().then(() => {
    answeredAt = clock.monotonic();
  });
  await clock.advance(20_000);
  return answeredAt - begun;
}

describe('a backend that never answers', () => {
  it.each([
    ['both', 1000, ['acquire', 'read', 'write', 'check']],
    ['the lock', 1000, ['acquire']],
    ['the store', 750, ['read', 'write', 'check']],
  ] as const)('%s: a cold read waits for one time-out, later ones do not wait', async (_, most, steps) => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    link.break('no-answer', ...steps);
    expect(await coldRead(cluster, link, 'a')).toBe(most);
    for (const name of ['b', 'c', 'd', 'e']) expect(await coldRead(cluster, link, name)).toBe(0);
  });

  it('is probed behind readers, in pauses that grow from a quarter of a second to 4 seconds', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const { value, manual, link } = cluster.instance({ schedule: 500, store: undefined });
    link.break('no-answer', 'acquire');
    const askedAt: number[] = [];
    for (let at = 0; at < 30_000; at += 250) {
      void value.get();
      await clock.flush();
      if (link.take().includes('acquire')) askedAt.push(clock.monotonic());
      for (const call of manual.calls.splice(0)) call.resolve('one');
      await clock.advance(250);
    }
    const pauses = askedAt.slice(1).map((at, index) => (at - askedAt[index]!) / 1000);
    // Each probe takes a second itself.
    expect(pauses).toEqual([1.5, 1.5, 2, 3, 5, 5, 5, 5]);
  });

  it('delays the reload of a warm value by two time-outs, the next one not at all', async () => {
    const { cluster, a } = await warmOne();
    await cluster.clock.advance(1030);
    a!.link.break('no-answer', 'acquire', 'read', 'write', 'release');
    a!.value.current;
    await cluster.clock.advance(1999); // the first answer may be lost
    expect(a!.manual.calls).toHaveLength(1);
    await cluster.clock.advance(1);
    a!.manual.call(1).resolve('two');
    await cluster.clock.advance(1000); // a second later it still rests, or is probed
    await a!.value.get();
    expect(a!.value.peek()).toBe('two');
  });
});

describe('a lock that was found unavailable by a key, and may be probed', () => {
  async function unavailable() {
    const cluster = new ManualCluster();
    const instance = keyedInstance(cluster, { schedule: { hours: 1 } });
    instance.link.break('refused', 'acquire');
    await loadKey(cluster, instance, 'first', '1');
    await cluster.clock.advance(1000);
    instance.link.take();
    return { cluster, clock: cluster.clock, ...instance };
  }

  it('a probe that is answered late gives its lease back, and the next load is coordinated', async () => {
    const { cluster, clock, cache, calls, link } = await unavailable();
    link.break(new Promise<void>((resolve) => void clock.setTimeout(resolve, 500)), 'acquire');
    const probing = cache.get('probing');
    await clock.flush();
    calls[1]?.resolve('2');
    expect(await settled(probing)).toEqual({ value: '2' });
    await clock.advance(500);
    expect(await cluster.lock.inspect('c["probing"]')).toMatchObject({ state: 'abandoned' });
    link.mend();
    void cache.get('next');
    await clock.flush();
    expect(await cluster.lock.inspect('c["next"]')).toMatchObject({ state: 'running' });
  });

  it('is probed by one key, and no reader waits for the probe', async () => {
    const { clock, cache, calls, link } = await unavailable();
    link.break('no-answer', 'acquire');
    const reads = ['a', 'b', 'c', 'd'].map((key) => cache.get(key).catch(() => {}));
    await clock.flush();
    expect(link.take().filter((step) => step === 'acquire')).toHaveLength(1);
    expect(calls).toHaveLength(5);
    await clock.advance(15_000);
    expect(link.take()).not.toContain('acquire');
    for (const call of calls) call.resolve('x');
    await Promise.all(reads);
  });
});

describe('an acquire that is answered later than it was waited for', () => {
  /** A cold instance whose acquire was given up after a second, and is answered when `answer` is called. */
  async function givenUp(cluster: ManualCluster) {
    const instance: Instance = cluster.instance({ schedule: 100_000 });
    const late = instance.link.holdOnce('acquire');
    const first = instance.value.get();
    await cluster.clock.advance(1000);
    return { ...instance, first, answer: () => late.resolve() };
  }

  it('gives its lease back as soon as its answer comes', async () => {
    const cluster = new ManualCluster();
    const { manual, first, answer } = await givenUp(cluster);
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'running' });
    answer();
    await cluster.clock.flush();
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'abandoned', leaseLeft: 0 });
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
  });

  it('gives nothing back that a later call uses: the same request has the same lease', async () => {
    const cluster = new ManualCluster();
    const { value, manual, answer } = await givenUp(cluster);
    await cluster.end({ manual }, 0, 'one');
    await cluster.clock.advance(1000); // the lock is asked again
    const refreshed = value.refresh({ here: true });
    await cluster.clock.flush();
    answer();
    await cluster.clock.flush();
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'running' });
    manual.call(1).resolve('two');
    expect(await refreshed).toBe('two');
    await cluster.clock.flush();
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'done' });
  });

  it('is given back at close', async () => {
    const cluster = new ManualCluster();
    const { value, manual } = await givenUp(cluster);
    await cluster.end({ manual }, 0, 'one');
    await value.close();
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'abandoned', leaseLeft: 0 });
  });

  it('at close a lock that is still silent is waited for one time-out; an expired request not at all', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    for (const [waited, isClosed] of [
      [0, false],
      [2 * LEASE_MS, true],
    ] as const) {
      const { value, manual, link } = await givenUp(cluster);
      manual.call(0).resolve('one');
      await clock.advance(waited);
      link.break('no-answer', 'acquire');
      const closing = value.close();
      await clock.flush();
      expect((await settled(closing)) !== 'pending').toBe(isClosed);
      await clock.advance(1000);
      await closing;
    }
  });
});

it('a reader waits for the holder whose result comes with the answer of the lock, also where other reads fail', async () => {
  const cluster = new ManualCluster({}, 30_000);
  const [a, b] = [cluster.instance(), cluster.instance()];
  void a.value.get();
  await cluster.clock.flush();
  b.link.break('refused', 'read');
  const read = b.value.get();
  await cluster.clock.advance(500);
  expect(b.manual.calls).toHaveLength(0);
  await cluster.end(a, 0, 'one');
  await cluster.clock.advance(1000);
  expect(await read).toBe('one');
});
