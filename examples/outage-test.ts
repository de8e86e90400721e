// "My service survives an outage of the price source": three instances that share a lock and a store, and four hours of
// virtual time in a moment. With Vitest, import `it` from there.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RefreshingValue } from 'tickless';
import { virtualCluster } from 'tickless/testing';

it('survives an outage of the price source', async () => {
  const cluster = virtualCluster({
    instances: 3,
    source: () => ({ apple: 120 }),
    service: ({ source, ...surroundings }) =>
      new RefreshingValue({
        ...surroundings,
        name: 'prices',
        load: () => source(),
        schedule: 300_000,
        logger: false,
      }),
  });
  const sell = async (prices: { get(): Promise<{ apple: number }> }): Promise<void> =>
    assert.equal((await prices.get()).apple, 120);
  await cluster.run({ hours: 1 }, { read: sell });
  cluster.source.down();
  assert.equal((await cluster.run({ hours: 2 }, { read: sell })).unanswered, 0); // sells on at the last prices
  cluster.source.up();
  await cluster.run({ hours: 1 }, { read: sell });
  for (const { service } of cluster.instances) assert.ok((service.inspect().age ?? Infinity) < 360_000);
});
