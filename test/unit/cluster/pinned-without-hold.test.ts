import { expect, it } from 'vitest';
import type { AcquireAnswer } from '../../../src/cluster/lock-contract.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import type { ManualCluster } from '../../support/cluster.ts';
import { rejectionOf } from '../../support/settle.ts';
import { pinnedOne, twoVersions } from '../../support/two-versions.ts';

/** By hand: it ignores holds. */
const forcedLease = (cluster: ManualCluster): Promise<AcquireAnswer> =>
  cluster.lock.acquire({
    name: 'v',
    owner: 'stray',
    host: 'stray',
    requestId: 'stray',
    leaseFor: 500,
    force: true,
  });

it('no lease can be had by force while a version is pinned, also where its hold is lost', async () => {
  const { cluster, a, b } = await twoVersions();
  await a.value.rollback({ by: 'ann' });
  expect((await forcedLease(cluster)).kind).toBe('done');
  const { token = 0 } = (await cluster.lock.inspect('v')) ?? {};
  await cluster.lock.forceRelease('v', token);
  expect((await forcedLease(cluster)).kind).toBe('done');
  await cluster.readAfter(1100, b);
  expect([b.value.peek(), b.manual.calls.length]).toEqual(['one', 0]);
});

it('a pinned version ends the load of an instance that learns of it meanwhile', async () => {
  const { cluster, a, b } = await twoVersions({ propagateWithin: 300 });
  const c = cluster.instance();
  await c.value.get();
  await cluster.readAfter(1100, b);
  expect(b.manual.calls.length).toBe(1);
  await a.value.rollback({ by: 'ann' });
  for (let ms = 0; ms < 1500; ms += 100) {
    await cluster.readAfter(100, b);
  }
  expect(b.value.inspect().pinned?.by).toBe('ann');
  await cluster.end(b, 0, 'three');
  await cluster.read(c);
  expect([b.value.peek(), c.value.peek(), c.manual.calls.length]).toEqual(['one', 'one', 0]);
});

it('a pinned version is not replaced by the load of an instance that learns of it while it gives back a lease that it may not use', async () => {
  const { cluster, b } = await pinnedOne({ propagateWithin: 300 });
  const released = new Deferred<void>();
  b.link.fault = (step) => {
    if (step === 'release') return released.promise;
    return step === 'check' || step === 'read' ? 'refused' : undefined;
  };
  b.value.invalidate({ here: true });
  await cluster.read(b);
  b.link.mend();
  for (let ms = 0; ms < 500; ms += 100) {
    await cluster.readAfter(100, b);
  }
  expect(b.value.inspect().pinned?.by).toBe('ann');
  released.resolve();
  await cluster.clock.flush();
  expect([b.value.peek(), b.manual.calls.length, b.value.inspect().pinned?.by]).toEqual(['one', 0, 'ann']);
});

it('a mark that could not be published, since the store was not readable, leaves the next round to look for a pinned version', async () => {
  const { cluster, a, b } = await twoVersions();
  const c = cluster.instance();
  await c.value.get();
  await a.value.rollback({ by: 'ann' });
  b.link.break('refused', 'read');
  await rejectionOf(b.value.invalidate({ drop: true }));
  b.link.mend();
  await cluster.readAfter(1100, c);
  expect([c.value.peek(), c.manual.calls.length]).toEqual(['one', 0]);
});

it('an instance that was long in reading of a pin does not end it early', async () => {
  const { cluster, a, b } = await twoVersions();
  await cluster.clock.advance(1100);
  await a.value.rollback({ by: 'ann', hold: 1000 });
  const arrives = new Deferred<void>();
  b.link.fault = (step) => (step === 'read' ? { arrives: arrives.promise } : undefined);
  await cluster.read(b);
  await cluster.clock.advance(400);
  arrives.resolve();
  b.link.mend();
  await cluster.clock.flush();
  await cluster.clock.advance(500);
  expect(b.value.inspect().pinned?.by).toBe('ann');
});
