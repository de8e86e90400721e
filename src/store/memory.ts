import type { Store } from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import { MemoryRecords } from '../records/memory-records.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreOptions {
  /** Clock of the ages; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/**
 * A store in the memory of this process, for tests. Instances that share the object share the store. It keeps each
 * snapshot until it is deleted, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryStore(given: MemoryStoreOptions = {}): Store {
  const options = ownOptions(given);
  const records = new MemoryRecords(options?.clock ?? systemClock);
  return createStore(new RecordStore(records, options?.keepVersions), options, {
    longestName: undefined,
    options: ['clock'],
  });
}
