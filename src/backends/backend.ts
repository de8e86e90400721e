import { newOutage } from '../cluster/backend-access.ts';
import type { Backend } from '../engine/backend.ts';
import { optionsArgument, ownOptions } from '../option-checks.ts';
import { type BackendOptions, resolveBackendOptions } from '../records/backend-options.ts';
import { createLock } from '../records/lock/create-lock.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import { createStore } from '../records/store/create-store.ts';

/** Opens records, and checks the options that concern them. @param part of the backend, whose steps they are for. */
export type Open<O> = (part: 'lock' | 'store', options: O) => OpenRecords;

/** @throws {TicklessError} `OPTION` when an option breaks a rule. */
export function backendOn<O extends BackendOptions>(open: Open<O>, given: O): Backend {
  optionsArgument('backend', given);
  const options = ownOptions(given ?? ({} as O));
  const [ofLock, ofStore] = [open('lock', options), open('store', options)];
  const resolved = resolveBackendOptions(options, ofLock);
  const outage = newOutage(); // of both together
  return {
    lock: createLock(ofLock.records, resolved, { ...ofLock, outage }),
    store: createStore(ofStore.records, resolved, { ...ofStore, outage }),
  };
}
