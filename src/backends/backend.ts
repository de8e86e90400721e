import type { Store } from '../cluster/store-contract.ts';
import type { Lock } from '../lock/create-lock.ts';

/** A lock and a store at one place, for the option `backend`. */
export interface Backend {
  readonly lock: Lock;
  readonly store: Store;
}

/** The options that a lock or a store alone has. */
type OfLock = 'leaseFor';
type OfStore = 'codec' | 'schema' | 'keepVersions' | 'propagateWithin' | 'hints';

/** The options of a backend, as its lock has them. */
export function optionsOfLock<O extends object>(options: O): Omit<O, OfStore> {
  const { codec, schema, keepVersions, propagateWithin, hints, ...others } = (options ?? {}) as O &
    Partial<Record<OfStore, unknown>>;
  return others as Omit<O, OfStore>;
}

/** The options of a backend, as its store has them. */
export function optionsOfStore<O extends object>(options: O): Omit<O, OfLock> {
  const { leaseFor, ...others } = (options ?? {}) as O & Partial<Record<OfLock, unknown>>;
  return others as Omit<O, OfLock>;
}
