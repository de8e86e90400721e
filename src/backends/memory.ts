import type { Store } from '../cluster/store-contract.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import { MemoryRecords } from '../records/memory-records.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';

export type { Backend } from './backend.ts';

/** The options of all that is in the memory of this process. */
export interface MemoryOptions {
  /** Clock of leases, holds and ages; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/** The options of {@link memoryLock}. */
export interface MemoryLockOptions extends LockOptions, MemoryOptions {}

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreOptions, MemoryOptions {}

/** The options of {@link memoryBackend}: those of the lock and of the store. */
export interface MemoryBackendOptions extends MemoryLockOptions, MemoryStoreOptions {}

/**
 * A lock in the memory of this process: for tests, and for several values that share one source. Instances that share
 * the object share the lock. It keeps the record of each name for ever, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * ```ts
 * import { memoryLock } from 'tickless/memory';
 *
 * const lock = memoryLock({ leaseFor: { seconds: 10 } });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind); // acquired
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryLock(given: MemoryLockOptions = {}): Lock {
  return lockOn(openMemory, given);
}

/**
 * A store in the memory of this process, for tests. Instances that share the object share the store. It keeps each
 * snapshot until it is deleted, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryStore(given: MemoryStoreOptions = {}): Store {
  return storeOn(openMemory, given);
}

/**
 * A lock and a store in the memory of this process: for tests, and for several values that share one source, for the option `backend`: {@link memoryLock} and {@link memoryStore} with the same options.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { memoryBackend } from 'tickless/memory';
 *
 * const backend = memoryBackend();
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * await rates.close();
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryBackend(given: MemoryBackendOptions = {}): Backend {
  return backendOn(openMemory, given);
}

function openMemory(_about: string, options: MemoryOptions): OpenRecords {
  return { backend: 'memory', records: new MemoryRecords(options?.clock ?? systemClock), options: ['clock'] };
}
