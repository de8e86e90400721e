import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { AcquireAnswer } from '../../../src/cluster/lock-contract.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';

type Held = Exclude<AcquireAnswer, { readonly kind: 'acquired' }>;

/** Instances of a value with a period of 5 s, whose loads return their number. */
function fleet(count: number) {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock, keepVersions: 10 });
  let loads = 0;
  const load = async (): Promise<number> => {
    loads += 1;
    return loads;
  };
  const options = { name: 'v', load, schedule: 5000, maxStaleness: 7000, logger: false, clock } as const;
  const instance = (): RefreshingValue<number> => new RefreshingValue<number>({ ...options, backend });
  return {
    clock,
    lock: lockOf(backend),
    instance,
    instances: Array.from({ length: count }, instance),
    loads: () => loads,
  };
}

/** The instances read for a while; `meddle` is called before each read. Returns what each served in its order. */
async function readFor(
  { clock, instances }: ReturnType<typeof fleet>,
  seconds: number,
  meddle: (value: RefreshingValue<number>, step: number) => unknown = () => {},
): Promise<readonly (readonly number[])[]> {
  const served: number[][] = instances.map(() => []);
  const versions = instances.map(() => 0);
  for (let step = 0; step < seconds; step++) {
    for (const [index, value] of instances.entries()) {
      meddle(value, step + index);
      served[index]?.push(await value.get());
      const version = value.inspect().lock?.version ?? 0;
      expect(version).toBeGreaterThanOrEqual(versions[index] as number);
      versions[index] = version;
    }
    await clock.advance(1000);
  }
  return served;
}

describe('rule 25: versions grow over rollbacks, and a pinned version is replaced by people only', () => {
  it('due loads, invalidations and refreshes of all instances leave it in place', async () => {
    const cluster = fleet(4);
    await readFor(cluster, 12);
    const [first] = cluster.instances as [RefreshingValue<number>];
    const [bad, good] = await first.history();
    const version = await first.rollback({ by: 'ann', to: good!.version });
    expect(version).toBeGreaterThan(bad!.version);
    const before = cluster.loads();
    await readFor(cluster, 10); // until all have it
    expect(cluster.loads()).toBe(before);
    const served = await readFor(cluster, 200, (value, step) => {
      if (step % 7 === 0) value.invalidate();
      if (step % 11 === 0) value.refresh().catch(() => {});
    });
    expect(new Set(served.flat())).toEqual(new Set([await cluster.instance().get()]));
    expect(cluster.loads()).toBe(before);
  });

  it('an instance that does not have it yet does not replace it by a refresh or after an invalidation', async () => {
    for (const way of ['refresh', 'invalidate'] as const) {
      const cluster = fleet(2);
      await readFor(cluster, 12);
      const [a, b] = cluster.instances as [RefreshingValue<number>, RefreshingValue<number>];
      const pinned = await a.rollback({ by: 'ann' });
      const before = cluster.loads();
      if (way === 'refresh') await b.refresh().catch(() => {});
      else b.invalidate();
      await readFor(cluster, 3);
      expect([cluster.loads(), b.inspect().lock?.version]).toEqual([before, pinned]);
    }
  });

  it('where its hold is lost too, and no lease can be had by force', async () => {
    const cluster = fleet(2);
    await readFor(cluster, 12);
    const [a] = cluster.instances as [RefreshingValue<number>];
    await a.rollback({ by: 'ann' });
    await readFor(cluster, 10);
    const before = cluster.loads();
    const { token = 0 } = (await cluster.lock.inspect('v')) ?? {};
    await cluster.lock.forceRelease('v', token);
    await readFor(cluster, 130);
    expect(cluster.loads()).toBe(before);
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'released', holdLeft: 0 });
    const { kind, retryAfter } = (await cluster.lock.acquire({ name: 'v', force: true })) as Held;
    expect([kind, retryAfter > 86_400_000]).toEqual(['done', true]);
  });

  it('people replace it, on any instance', async () => {
    const ways: ((value: RefreshingValue<number>) => Promise<unknown>)[] = [
      (value) => value.unpin(),
      (value) => value.unpin().then(() => value.refresh()),
      (value) => value.set(-1),
    ];
    for (const way of ways) {
      const cluster = fleet(3);
      await readFor(cluster, 12);
      const [a, b] = cluster.instances as [RefreshingValue<number>, RefreshingValue<number>];
      const pinned = await a.rollback({ by: 'ann' });
      const before = cluster.loads();
      await way(b);
      await readFor(cluster, 80);
      expect(cluster.loads()).toBeGreaterThan(before);
      expect(cluster.instances.map((value) => value.inspect().pinned)).toEqual(Array(3).fill(undefined));
      for (const value of cluster.instances) expect(value.inspect().lock?.version).toBeGreaterThan(pinned);
    }
  });
});
