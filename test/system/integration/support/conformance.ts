import { describe, it } from 'vitest';
import { type LockSubject, lockConformance } from '../../../../src/testing/index.ts';
import { type StoreSubject, storeConformance } from '../../../support/store-conformance.ts';

/** Of the stores that keep older versions. */
export const KEEP_VERSIONS = 3;

/**
 * The suites of lock and store, as tests.
 *
 * @param older the same stores, with `keepVersions`.
 */
export function conformance(
  lock: LockSubject,
  store: StoreSubject,
  older?: Pick<StoreSubject, 'store' | 'other'>,
): void {
  describe('lock', { concurrent: true }, () => {
    for (const { name, run } of lockConformance(lock)) it(name, run);
  });
  describe('store', { concurrent: true }, () => {
    for (const { name, run } of storeConformance(store)) it(name, run);
  });
  if (older === undefined) return;
  describe('store with keepVersions', { concurrent: true }, () => {
    const subject = { ...store, ...older, keepVersions: KEEP_VERSIONS };
    for (const { name, run } of storeConformance(subject)) it(name, run);
  });
}
