import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { lockOf, methodsOf } from '../../support/parts.ts';

// A lock of three methods.

const inner = lockOf(memoryBackend());
const { acquire, extend, release } = methodsOf(inner);
const three = { acquire, extend, release };

it('a lock of three methods has leases of 30 seconds, and shows and ends nothing to operators', async () => {
  const lock = asLock(three);
  expect(lock.leaseFor).toBe(30_000);
  const value = new RefreshingValue({ name: 'own', load: () => 1, lock });
  expect(await value.get()).toBe(1);
  await value.close();
  expect(await inner.inspect('own')).toMatchObject({ state: 'done' });
  expect(await lock.inspect('own')).toBeUndefined();
  expect(await lock.list()).toEqual([]);
  expect(await lock.forceRelease('own', 1)).toBe(false);
});

it('a refresh under a lock that ignores force gets the value of the round that is done', async () => {
  const cluster = new ManualCluster();
  const [{ link, value }] = await cluster.warm(1, { schedule: { hours: 1 } });
  const lock = asLock({ ...three, acquire: (request) => link.lock.acquire({ ...request, force: false }) });
  const { clock, store } = cluster;
  const other = new RefreshingValue({
    name: 'v',
    load: () => 'two',
    schedule: { hours: 1 },
    clock,
    backend: { lock, store },
  });
  await clock.advance(1000);
  const refreshed = other.refresh();
  await clock.advance(1000);
  expect([await refreshed, value.peek()]).toEqual(['one', 'one']);
});
