import { describe, expect, it } from 'vitest';
import { absent, RefreshingCache, RefreshingValue, type TicklessError } from '../../../src/index.ts';
import { type VirtualInstance, virtualCluster } from '../../../src/testing/index.ts';

// What a person does everywhere reaches instances that have no value, within the bound.

const WITHIN_MS = 1000;
const backend = { keepVersions: 3 };
const common = {
  name: 'prices',
  schedule: { hours: 1 },
  propagateWithin: WITHIN_MS,
  logger: false,
  retry: false,
} as const;

type Readable = RefreshingCache<never, string> | RefreshingValue<never>;

/** Reads on all instances, for twice the bound. @returns what each gives in the end. */
async function readOnAll(
  cluster: ReturnType<typeof virtualCluster>,
  instances: readonly VirtualInstance<unknown>[],
): Promise<unknown[]> {
  const read = (member: unknown): Promise<unknown> =>
    (member instanceof RefreshingValue ? member.get() : (member as Readable).get('k' as never)).catch(
      (error: TicklessError) => error.code,
    );
  await cluster.run(2 * WITHIN_MS, { every: 100, read: async (member) => void (await read(member)) });
  const last = instances.map(({ service }) => read(service));
  await cluster.flush();
  return Promise.all(last);
}

describe('a key that the source does not have', () => {
  it.each(['set', 'refresh'] as const)('is there on all instances after %s everywhere', async (how) => {
    let isThere = false;
    const cluster = virtualCluster({
      instances: 2,
      source: () => (isThere ? 'loaded' : absent()),
      backend,
      service: ({ source, name, ...given }) =>
        new RefreshingCache({ ...given, ...common, absentFor: { hours: 1 }, load: () => source() }),
    });
    const { instances } = cluster;
    expect(await readOnAll(cluster as never, instances)).toEqual(['ABSENT', 'ABSENT']);
    isThere = true;
    const [{ service: one }] = instances;
    const done = how === 'set' ? one.set('k', 'loaded') : one.refresh('k');
    await cluster.flush();
    await done;
    expect(await readOnAll(cluster as never, instances)).toEqual(['loaded', 'loaded']);
  });
});

describe('a value that was dropped everywhere while the source is down', () => {
  it.each(['set', 'rollback'] as const)('is there on all instances after %s', async (how) => {
    const cluster = virtualCluster({
      instances: 3,
      source: () => 'loaded',
      backend,
      service: ({ source, name, ...given }) =>
        new RefreshingValue({ ...given, ...common, load: () => source() }),
    });
    const { instances } = cluster;
    const [{ service: one }] = instances;
    await readOnAll(cluster as never, instances);
    cluster.source.down();
    const dropped = one.invalidate({ drop: true });
    await cluster.advance(1000);
    await dropped;
    // Until each has failed by itself, and cools down.
    await cluster.run({ minutes: 12 }, { every: 1000, read: (value) => void value.get().catch(() => {}) });
    expect(new Set(await readOnAll(cluster as never, instances))).toEqual(new Set(['COOLING_DOWN']));
    const done = how === 'set' ? one.set('loaded') : one.rollback({ by: 'ann' });
    await cluster.advance(100);
    await done;
    expect(await readOnAll(cluster as never, instances)).toEqual(['loaded', 'loaded', 'loaded']);
  });
});

it('a key whose refused value was loaded past the guard is taken over by all', async () => {
  let price = 1;
  const cluster = virtualCluster({
    instances: 3,
    source: () => price,
    backend,
    service: ({ source, name, ...given }) =>
      new RefreshingCache({
        ...given,
        ...common,
        load: () => source(),
        accept: (value) => value > 0 || 'bad',
      }),
  });
  const [{ service: one }] = cluster.instances;
  await readOnAll(cluster as never, cluster.instances);
  price = -5;
  const refused = one.refresh('k').catch(() => {});
  await cluster.advance(100);
  await refused;
  const forced = one.refresh('k', { force: one.inspect('k')?.refused?.digest });
  await cluster.flush();
  expect(await forced).toBe(-5);
  expect(await readOnAll(cluster as never, cluster.instances)).toEqual([-5, -5, -5]);
  expect(one.inspect('k')?.refused).toBeUndefined();
});
