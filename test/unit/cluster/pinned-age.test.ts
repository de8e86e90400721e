import { describe, expect, it } from 'vitest';
import { keep, loaded } from '../../../src/index.ts';
import { type Instance, ManualCluster } from '../../support/cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { pinnedOnBoth, pinnedOne, twoVersions } from '../../support/two-versions.ts';

const by = 'ann';
const PINNED = { code: 'PINNED', message: 'v: pinned by ann until unpin()' };

describe('a read with maxStaleness of a pinned version that is too old for it', () => {
  const maxStaleness = 1000;

  it('rejects, and asks once a minute whether it still is pinned', async () => {
    const { cluster, a, b } = await pinnedOne();
    const unaware = rejectionOf(b.value.get({ maxStaleness: 0 }));
    await cluster.clock.flush();
    for (const error of [await unaware, await rejectionOf(b.value.get({ maxStaleness }))]) {
      expect(error).toMatchObject({ code: 'TOO_STALE', cause: PINNED });
    }
    for (const { link } of [a, b]) link.take();
    for (let second = 0; second < 300; second++) {
      for (const { value } of [a, b, a, b]) void value.get({ maxStaleness }).catch(() => {});
      await cluster.clock.advance(1000);
    }
    const checks = [a, b].map(({ link }) => link.take().filter((step) => step === 'acquire').length);
    expect(checks).toEqual([4, 4]);
    expect([await a.value.get({ maxStaleness: 600_000 }), b.manual.calls.length]).toEqual(['one', 0]);
  });

  it('rejects where there was no value', async () => {
    const { cluster } = await pinnedOne();
    const { value } = cluster.instance();
    expect(await rejectionOf(value.get({ maxStaleness }))).toMatchObject({ cause: PINNED });
  });

  it('waits for a load as soon as it is known that the pin is over', async () => {
    const { cluster, a, b } = await pinnedOnBoth();
    await a.value.unpin();
    await cluster.clock.advance(60_000);
    const read = b.value.get({ maxStaleness });
    await cluster.clock.flush();
    await cluster.end(b, 0, 'three');
    expect(await settled(read)).toEqual({ value: 'three' });
  });

  it('asks no more often where a value that was set here is younger than the pin', async () => {
    const { cluster, a, b } = await twoVersions();
    for (let pins = 0; pins < 2; pins++) {
      await a.value.rollback({ by, to: (await a.value.history())[1]?.version });
      await cluster.clock.advance(1100);
      if (pins === 0) await cluster.read(b);
    }
    b.value.set('x');
    await cluster.readAfter(2000, b);
    b.link.take();
    for (let read = 0; read < 3; read++) void rejectionOf(b.value.get({ maxStaleness }));
    await cluster.clock.flush();
    expect(b.link.take()).toEqual([]);
  });
});

describe('the age limit, which a pinned version does not have,', () => {
  const limits = { maxStaleness: 5000, whenTooStale: 'throw' } as const;

  /** The state of each value, the second time that it is read. */
  async function statesOf(cluster: ManualCluster, ...instances: Instance[]): Promise<string[]> {
    for (const { value } of instances) value.get().catch(() => {});
    await cluster.clock.flush();
    return instances.map(({ value }) => value.inspect().state);
  }

  it('applies again where its hold is over', async () => {
    const { cluster, a, b } = await twoVersions(limits);
    await a.value.rollback({ by, hold: 60_000 });
    await cluster.clock.advance(59_900);
    expect(await statesOf(cluster, a, b)).toEqual(['fresh', 'fresh']);
    await cluster.clock.advance(200);
    expect(await statesOf(cluster, a, b, cluster.instance(limits))).toEqual([
      'too-stale',
      'too-stale',
      'empty',
    ]);
    await cluster.end(a, 2, keep() as never);
    expect(await statesOf(cluster, a)).toEqual(['fresh']);
    await cluster.clock.advance(6000);
    expect(await statesOf(cluster, a)).toEqual(['too-stale']);
  });

  it('applies again after unpin: here at once, elsewhere at the next check', async () => {
    const { cluster, a, b } = await pinnedOnBoth(limits);
    await cluster.clock.advance(10_000);
    await b.value.unpin();
    expect(await statesOf(cluster, a, b)).toEqual(['fresh', 'too-stale']);
    await cluster.fail(b, 0, new Error('source down'));
    await cluster.clock.advance(60_000);
    expect(await statesOf(cluster, a)).toEqual(['too-stale']);
    expect(a.value.inspect().pinned).toBeUndefined();
  });

  it('applies again where a check finds it unpinned: the next read starts a load', async () => {
    const { cluster, a } = await twoVersions(limits);
    const b = cluster.instance({ ...limits, propagateWithin: 500 });
    await a.value.rollback({ by });
    await b.value.get();
    await cluster.clock.advance(10_000);
    await a.value.unpin();
    expect(await statesOf(cluster, b)).toEqual(['too-stale']);
    expect([await statesOf(cluster, b), b.manual.calls.length]).toEqual([['too-stale'], 1]);
  });

  it('is not longer than that of the member, whatever its load returned', async () => {
    const cluster = new ManualCluster({ keepVersions: 4 });
    const [a, unlimited] = [cluster.instance(limits), cluster.instance()];
    await cluster.load(unlimited, loaded('one', { maxStaleness: 60_000 }) as never);
    await a.value.get();
    await a.value.set('two');
    await a.value.rollback({ by });
    await cluster.clock.advance(10_000);
    expect(await statesOf(cluster, a)).toEqual(['fresh']);
    await a.value.unpin();
    expect(a.value.inspect()).toMatchObject({ state: 'too-stale', maxStaleness: 5000 });
  });

  it('is that of its load, where that returned one', async () => {
    const cluster = new ManualCluster({ keepVersions: 4 });
    const [a, b] = [cluster.instance(), cluster.instance()];
    await cluster.load(a, loaded('one', { maxStaleness: 60_000 }) as never);
    await a.value.set('two');
    await a.value.rollback({ by });
    await b.value.get();
    await cluster.clock.advance(58_000);
    expect(await a.value.unpin()).toBe(true);
    await cluster.clock.advance(100);
    expect(await statesOf(cluster, a, b)).toEqual(['stale', 'fresh']);
    await cluster.clock.advance(2000);
    expect(await statesOf(cluster, a, b)).toEqual(['too-stale', 'too-stale']);
  });

  it('does not apply where unpin failed', async () => {
    const { cluster, a } = await pinnedOne(limits);
    await cluster.clock.advance(10_000);
    a.link.break('refused', 'write');
    await rejectionOf(a.value.unpin());
    expect(await statesOf(cluster, a)).toEqual(['fresh']);
  });
});
