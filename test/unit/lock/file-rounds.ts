import type { Lease } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';

// Rounds of a file lock.

/** Acquires the lock, or throws. */
export async function leaseOf(lock: Lock, name = 'n', leaseFor: number = lock.leaseFor): Promise<Lease> {
  const answer = await lock.acquire({ name, leaseFor });
  if (answer.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(answer)}`);
  return answer.lease;
}

/** Acquires and releases without a hold. */
export async function rounds(lock: Lock, count: number, name = 'n'): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await lock.release(await leaseOf(lock, name), { as: 'done', holdFor: 0 });
  }
}
