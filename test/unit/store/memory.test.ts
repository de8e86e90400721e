import { describe, it } from 'vitest';
import { memoryStore } from '../../../src/store/memory.ts';
import { storeConformance } from '../../../src/testing/index.ts';

describe.concurrent('memoryStore', () => {
  const store = memoryStore();
  for (const { name, run } of storeConformance({ store: () => store })) it(name, run);
});

describe.concurrent('memoryStore with keepVersions', () => {
  const store = memoryStore({ keepVersions: 3 });
  for (const { name, run } of storeConformance({ store: () => store, keepVersions: 3 })) it(name, run);
});
