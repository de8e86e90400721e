import { isText } from '../option-checks.ts';
import { thisProcess } from './identity.ts';
import type { LockRecord, ReleaseOutcome } from './lock-contract.ts';

// A name is registered by a lease that is given up at once, so any lock can do it: the owner says so.

/** The beginning of the owner of such a lease. */
const REGISTERS = 'registers:';

/** Short: an instance that crashes right then must not keep the others from running. In milliseconds. */
const REGISTER_LEASE_MS = 1000;

/** The steps of a lock that a registration needs. */
export interface Registrar {
  readonly leaseFor: number;
  inspect(): Promise<LockRecord | undefined>;
  /** @returns the lease; `undefined`: another instance has it, or has registered the name. */
  acquire(
    leaseFor: number,
    owner: string,
  ): Promise<{ release(outcome: () => ReleaseOutcome): Promise<unknown> } | undefined>;
}

/** Makes the record of a name where there is none. Rejects as the lock does. */
export async function register(lock: Registrar): Promise<void> {
  if ((await lock.inspect()) !== undefined) return;
  const lease = await lock.acquire(Math.min(REGISTER_LEASE_MS, lock.leaseFor), REGISTERS + thisProcess());
  await lease?.release(() => ({ as: 'abandoned' }));
}

/** The holder runs nothing: it registers the name. A user's lock may return anything. */
export function isRegistering(held: { readonly owner: string } | undefined): boolean {
  const owner: unknown = held?.owner;
  return isText(owner) && owner.startsWith(REGISTERS);
}

/** The record of a lock as people see it. */
export function shownRecord<R extends LockRecord>(record: R): R {
  if (!isRegistering(record)) return record;
  const owner = record.owner.slice(REGISTERS.length);
  return { ...record, owner, state: record.state === 'abandoned' ? 'registered' : record.state };
}
