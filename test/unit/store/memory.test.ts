import { describe, it } from 'vitest';
import { memoryStore } from '../../../src/backends/memory.ts';
import type { Store } from '../../../src/index.ts';
import { storeConformance } from '../../../src/testing/index.ts';

/** A store object has a memory of its own. */
function inNamespaces(): (namespace: string) => Store {
  const stores = new Map<string, Store>();
  return (namespace) => {
    const store = stores.get(namespace) ?? memoryStore({ namespace });
    stores.set(namespace, store);
    return store;
  };
}

describe.concurrent('memoryStore', () => {
  const store = memoryStore();
  const inNamespace = inNamespaces();
  for (const { name, run } of storeConformance({ store: () => store, inNamespace })) it(name, run);
});

describe.concurrent('memoryStore with keepVersions', () => {
  const store = memoryStore({ keepVersions: 3 });
  for (const { name, run } of storeConformance({ store: () => store, keepVersions: 3 })) it(name, run);
});
