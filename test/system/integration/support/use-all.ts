import { expect } from 'vitest';
import type { SnapshotStore } from '../../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../../support/lease.ts';

/** Every step once. */
export async function useAll(lock: Lock, store: SnapshotStore): Promise<void> {
  const lease = await leaseOf(lock, { name: 'used' });
  expect(await lock.extend(lease)).toBe(true);
  expect(await store.write('used', 'payload', lease.token)).toMatchObject({ kind: 'written' });
  expect(await store.write('used', 'payload')).toMatchObject({ kind: 'written' });
  expect(await lock.release(lease, { as: 'failed', holdFor: 1000, error: 'why' })).toBe(true);
  expect(await lock.inspect('used')).toMatchObject({ state: 'failed', lastError: 'why' });
  expect(await lock.list()).toHaveLength(1);
  expect(await lock.forceRelease('used', lease.token)).toBe(true);
  expect(await store.read('used')).toMatchObject({ payload: 'payload' });
  expect(await store.delete('used')).toBe(true);
}
