import type { Store } from '../cluster/store-contract.ts';
import { createLock, type Lock, type LockOptions } from '../lock/create-lock.ts';
import { RecordLock } from '../lock/record-lock.ts';
import { ownOptions } from '../option-checks.ts';
import type { Records } from '../records/records.ts';
import { createStore, type StoreOptions } from '../store/create-store.ts';
import { RecordStore } from '../store/record-store.ts';

/** A lock and a store at one place, for the option `backend`. */
export interface Backend {
  readonly lock: Lock;
  readonly store: Store;
}

/** Records that a lock or a store is made of. */
export interface OpenRecords {
  readonly records: Records;
  /** In bytes of UTF-8. @default names of any length */
  readonly longestName?: number | undefined;
  /** The names of the options that concern the records. */
  readonly options: readonly string[];
  /** Adds what the client knows of an error that a step has thrown. @default the error as it is */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/**
 * Opens records, and checks the options that concern them.
 *
 * @param about the subject of errors.
 */
export type Open<O> = (about: 'lock' | 'store', options: O) => OpenRecords;

/** @throws {OptionError} when an option breaks a rule. */
export function lockOn<O extends LockOptions>(open: Open<O>, given: O): Lock {
  const options = ownOptions(given);
  const { records, ...kind } = open('lock', options);
  return createLock(new RecordLock(records), options, kind);
}

/** @throws {OptionError} when an option breaks a rule. */
export function storeOn<O extends StoreOptions>(open: Open<O>, given: O): Store {
  const options = ownOptions(given);
  const { records, ...kind } = open('store', options);
  return createStore(new RecordStore(records, options?.keepVersions), options, kind);
}

/** @throws {OptionError} when an option breaks a rule. */
export function backendOn<O extends LockOptions & StoreOptions>(open: Open<O>, given: O): Backend {
  const { leaseFor, ...ofStore } = ownOptions(given) ?? ({} as O);
  const { codec, schema, keepVersions, propagateWithin, hints, ...ofLock } = ownOptions(given) ?? ({} as O);
  return { lock: lockOn(open, ofLock as O), store: storeOn(open, ofStore as O) };
}
