import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { lockOf, methodsOf } from '../../support/parts.ts';

// A lock of three methods.

const inner = lockOf(memoryBackend());
const { acquire, extend, release } = methodsOf(inner);

it('a lock of three methods has leases of 30 seconds, and shows and ends nothing to operators', async () => {
  const lock = asLock({ acquire, extend, release });
  expect(lock.leaseFor).toBe(30_000);
  const value = new RefreshingValue({ name: 'own', load: () => 1, lock });
  expect(await value.get()).toBe(1);
  await value.close();
  expect(await inner.inspect('own')).toMatchObject({ state: 'done' });
  expect(await lock.inspect('own')).toBeUndefined();
  expect(await lock.list()).toEqual([]);
  expect(await lock.forceRelease('own', 1)).toBe(false);
});
