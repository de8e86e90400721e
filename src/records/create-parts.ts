import type { Store } from '../cluster/store-contract.ts';
import type { ResolvedBackendOptions } from './backend-options.ts';
import { createLock, type Lock } from './lock/create-lock.ts';
import { memberRecords } from './member-records.ts';
import type { Records } from './records.ts';
import type { RecordsKind } from './records-kind.ts';
import { createStore } from './store/create-store.ts';

/** The lock and the store of one backend: a round has both in one record. */
export function createParts(
  records: Records,
  options: ResolvedBackendOptions,
  kind: RecordsKind,
): { readonly lock: Lock; readonly store: Store } {
  const shared = memberRecords(records, options.namespace);
  return {
    lock: createLock(records, options, kind, shared),
    store: createStore(records, options, kind, shared),
  };
}
