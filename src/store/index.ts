// For adapter authors: wrap your backend with `createStore`. `SnapshotStore` documents a complete example.

export { createStore, type StoreEngine, type StoreEngineKind, type StoreOptions } from './create-store.ts';
