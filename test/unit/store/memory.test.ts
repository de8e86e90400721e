import { describe, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import { storeOf } from '../../support/parts.ts';
import { storeConformance } from '../../support/store-conformance.ts';

/** A store object has a memory of its own. */
function inNamespaces(): (namespace: string) => Store {
  const stores = new Map<string, Store>();
  return (namespace) => {
    const store = stores.get(namespace) ?? storeOf(memoryBackend({ namespace }));
    stores.set(namespace, store);
    return store;
  };
}

describe.concurrent('the store of memoryBackend', () => {
  const store = storeOf(memoryBackend());
  const inNamespace = inNamespaces();
  for (const { name, run } of storeConformance({ store: () => store, inNamespace })) it(name, run);
});

describe.concurrent('the store of memoryBackend with keepVersions', () => {
  const store = storeOf(memoryBackend({ keepVersions: 3 }));
  for (const { name, run } of storeConformance({ store: () => store, keepVersions: 3 })) it(name, run);
});
