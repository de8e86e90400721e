import { describe, it } from 'vitest';
import {
  type LockSubject,
  lockConformance,
  type StoreSubject,
  storeConformance,
} from '../../../../src/testing/index.ts';

/** The suites of lock and store, as tests. */
export function conformance(lock: LockSubject, store: StoreSubject): void {
  describe('lock', { concurrent: true }, () => {
    for (const { name, run } of lockConformance(lock)) it(name, run);
  });
  describe('store', { concurrent: true }, () => {
    for (const { name, run } of storeConformance(store)) it(name, run);
  });
}
