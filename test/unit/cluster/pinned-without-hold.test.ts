import { expect, it } from 'vitest';
import type { AcquireAnswer } from '../../../src/cluster/lock-contract.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import type { ManualCluster } from '../../support/cluster.ts';
import { rejectionOf } from '../../support/settle.ts';
import { pinnedOne, twoVersions } from '../../support/two-versions.ts';

/** A lease of no instance: it ignores holds, and its round has no result. */
const strayLease = (cluster: ManualCluster): Promise<AcquireAnswer> =>
  cluster.lock.acquire({
    name: 'v',
    owner: 'stray',
    host: 'stray',
    requestId: 'stray',
    leaseFor: 500,
    force: true,
  });

async function releaseOf(cluster: ManualCluster, answer: AcquireAnswer): Promise<void> {
  if (answer.kind === 'acquired') await cluster.lock.release(answer.lease, { as: 'abandoned' });
}

it('rollback puts its version into the store once more where its lease has ended before the hold could begin', async () => {
  const { cluster, a, b } = await twoVersions({}, 1000);
  const writes = new Deferred<void>();
  a.link.fault = (step) => {
    if (step === 'write') return { arrives: writes.promise };
    return step === 'extend' ? 'refused' : undefined;
  };
  const rolledBack = a.value.rollback({ by: 'ann' });
  await cluster.clock.advance(1100);
  await releaseOf(cluster, await strayLease(cluster));
  a.link.mend();
  writes.resolve();
  await rolledBack;
  await cluster.readAfter(1100, b);
  expect([b.value.peek(), b.manual.calls.length]).toEqual(['one', 0]);
});

it('a lease that took over and is not used leaves the next one to look for a pinned version', async () => {
  const { cluster, a, b } = await twoVersions({ whenBackendDown: 'load' });
  const c = cluster.instance();
  await c.value.get();
  await a.value.rollback({ by: 'ann' });
  await strayLease(cluster);
  await cluster.clock.advance(1100);
  const answers = b.link.hold('acquire');
  b.value.current;
  await cluster.clock.advance(2500);
  b.link.mend();
  answers.resolve();
  await cluster.clock.flush();
  await cluster.read(c);
  expect([c.value.peek(), c.manual.calls.length]).toEqual(['one', 0]);
});

it('a pinned version ends the load of an instance that learns of it meanwhile, and has its hold again', async () => {
  const { cluster, a, b } = await twoVersions({ propagateWithin: 300 });
  const c = cluster.instance();
  await c.value.get();
  await a.value.rollback({ by: 'ann' });
  await releaseOf(cluster, await strayLease(cluster));
  b.link.break('refused', 'check', 'read');
  await cluster.readAfter(1100, b);
  expect(b.manual.calls.length).toBe(1);
  b.link.mend();
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
