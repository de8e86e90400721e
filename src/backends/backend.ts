import { type BackendLabel, newOutage } from '../cluster/backend-access.ts';
import type { Store } from '../cluster/store-contract.ts';
import { optionsArgument, ownOptions } from '../option-checks.ts';
import { createLock, type Lock, type LockOptions } from '../records/lock/create-lock.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import { createStore, type StoreOptions } from '../records/store/create-store.ts';

/** A lock and a store at one place, for the option `backend`. */
export interface Backend {
  readonly lock: Lock;
  readonly store: Store;
}

/**
 * Opens records, and checks the options that concern them.
 *
 * @param about the subject of errors.
 */
export type Open<O> = (about: 'lock' | 'store', options: O) => OpenRecords;

/** @throws {OptionError} when an option breaks a rule. */
export function lockOn<O extends LockOptions>(
  open: Open<O>,
  given: O,
  outage?: BackendLabel['outage'],
): Lock {
  optionsArgument('lock', given);
  const options = ownOptions(given);
  const { records, ...kind } = open('lock', options);
  return createLock(records, options, { ...kind, outage });
}

/** @throws {OptionError} when an option breaks a rule. */
export function storeOn<O extends StoreOptions>(
  open: Open<O>,
  given: O,
  outage?: BackendLabel['outage'],
): Store {
  optionsArgument('store', given);
  const options = ownOptions(given);
  const { records, ...kind } = open('store', options);
  return createStore(records, options, { ...kind, outage });
}

/** @throws {OptionError} when an option breaks a rule. */
export function backendOn<O extends LockOptions & StoreOptions>(open: Open<O>, given: O): Backend {
  optionsArgument('backend', given);
  const { leaseFor, ...ofStore } = ownOptions(given) ?? ({} as O);
  const { codec, schema, keepVersions, hints, ...ofLock } = ownOptions(given) ?? ({} as O);
  const outage = newOutage(); // of both together
  return { lock: lockOn(open, ofLock as O, outage), store: storeOn(open, ofStore as O, outage) };
}
