import type { LockProvider } from '../../src/cluster/lock-contract.ts';
import type { Store } from '../../src/cluster/store-contract.ts';
import type { Backend } from '../../src/engine/backend.ts';
import { type BackendOptions, resolveBackendOptions } from '../../src/records/backend-options.ts';
import { createParts } from '../../src/records/create-parts.ts';
import type { Lock } from '../../src/records/lock/create-lock.ts';
import type { Records } from '../../src/records/records.ts';
import type { RecordsKind } from '../../src/records/records-kind.ts';

/** The lock and the store of a backend, to be used by hand. */
export type Parts = ReturnType<typeof createParts>;

export function partsOf(backend: Backend): Parts {
  return backend as Parts;
}

/** The lock of a backend, to be used by hand. */
export function lockOf({ lock }: Backend): Lock {
  return lock as Lock;
}

/** The store of a backend, to be used by hand. */
export function storeOf({ store }: Backend): Store {
  return store as Store;
}

/** The lock and the store of records, as those of one backend. */
export function partsOn(
  records: Records,
  options: BackendOptions = {},
  kind: RecordsKind = { options: [] },
): Parts {
  return createParts(records, resolveBackendOptions(options, kind), kind);
}

/** Those records, but for what is given. */
export function recordsWith(records: Records, given: Partial<Records>): Records {
  return {
    mostEdits: records.mostEdits,
    sharesCommands: records.sharesCommands,
    apply: (edits) => records.apply(edits),
    list: (...asked) => records.list(...asked),
    editions: (...asked) => records.editions(...asked),
    ...given,
  };
}

/** A lock of records, to be used by hand. */
export function lockOn(records: Records, options: BackendOptions, kind: RecordsKind): Lock {
  return partsOn(records, options, kind).lock;
}

/** A store of records, to be used by hand. */
export function storeOn(records: Records, options: BackendOptions, kind: RecordsKind): Store {
  return partsOn(records, options, kind).store;
}

/** The methods of a lock, for one of a user that has others in place of some of them. */
export function methodsOf(lock: LockProvider): LockProvider {
  return {
    leaseFor: lock.leaseFor,
    acquire: (request) => lock.acquire(request),
    extend: (lease, leaseFor) => lock.extend(lease, leaseFor),
    release: (lease, outcome) => lock.release(lease, outcome),
    inspect: (name) => lock.inspect(name),
    list: (options) => lock.list(options),
    forceRelease: (name, token) => lock.forceRelease(name, token),
  };
}
