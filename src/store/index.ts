// For who writes an adapter: `createStore` around an engine of his own. See `SnapshotStore` for a worked one.

export { createStore, type StoreEngine, type StoreEngineKind, type StoreOptions } from './create-store.ts';
