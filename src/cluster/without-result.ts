import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';

/**
 * The end of a lease that was given although a round that is done held the next one back, and that has no result. The version
 * in the store may be pinned: a round that is done without a result lets the next one look for that.
 */
export function withoutResult(keepsVersions: boolean): ReleaseOutcome {
  return { as: 'done', holdFor: keepsVersions ? LONGEST_LEASE_MS : 0 };
}
