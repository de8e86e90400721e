import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';

/**
 * The end of a lease that was given although a round that is done held the next one back, and that has no result. The version
 * in the store may be pinned: a round that is done without a result lets the next one look for that.
 */
export function withoutResult(keepsVersions: boolean): ReleaseOutcome {
  return { as: 'done', holdFor: keepsVersions ? LONGEST_LEASE_MS : 0 };
}

/**
 * The hold of a round that is done may be such an end, or that of a version which is pinned for ever: it says nothing of when a
 * version is due. The store may have its result all the same: only the answer to the write was lost.
 */
export function mayBeWithoutResult(holdLeft: number): boolean {
  return holdLeft > LONGEST_LEASE_MS / 2;
}
