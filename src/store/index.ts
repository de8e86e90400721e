// For adapter authors: wrap your backend with `createStore`. `SnapshotStore` has a worked example.

export type {
  HintBus,
  Hints,
  StopListening,
} from '../cluster/hint-contract.ts';
export { isPlausibleToken as isPlausibleVersion } from '../cluster/plausible.ts';
export type { StoredVersion } from '../cluster/store-contract.ts';
export { createHints } from '../hints/create-hints.ts';
export { type AsStoreOptions, asStore } from './as-store.ts';
export { createStore, type StoreBackendKind, type StoreOptions } from './create-store.ts';
export type { StoreBackend } from './store-backend.ts';
