import type { RemoteResult } from '../engine/coordinator.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import type { Pin } from './pin.ts';
import { type Adoption, StillPinned } from './remote-result.ts';

/** The version that a round with a lease has found in the store. */
interface FoundVersion<T> {
  /** There is one that is newer than the one in place. */
  readonly isThere: boolean;
  /** It may be served here. */
  readonly adoption: Adoption<T> | undefined;
  /** The store could be read. */
  readonly isReadable: boolean;
}

/** The lease is given back. */
interface GivenBack<T> {
  /** `undefined`: this instance loads without the lease, so that its result is not published. */
  readonly result: RemoteResult<T> | undefined;
  /** Until when no due load begins (monotonic); `undefined`: any instance may load. */
  readonly heldUntil: number | undefined;
}

/**
 * Decides on a round that has the lease although the version in place is pinned, or may be pinned elsewhere by now.
 *
 * @param known the pin of the version in place.
 * @returns `undefined`: nothing is pinned any longer, the load is to begin.
 */
export function decidePinned<T>(
  { options }: Pick<ClusterMember, 'options'>,
  known: Pin | undefined,
  { isThere, adoption, isReadable }: FoundVersion<T>,
): GivenBack<T> | undefined {
  if (adoption !== undefined) {
    if (adoption.pin === undefined && known === undefined) return undefined; // older than the load that is to begin
    return { result: adoption, heldUntil: adoption.pin?.untilAt };
  }
  if (isThere) return undefined; // it has ended the pin, and is older than the value here
  if (known !== undefined) return { result: new StillPinned(options, known), heldUntil: known.untilAt };
  return isReadable ? undefined : { result: undefined, heldUntil: Infinity };
}

/** @param heldUntil as of {@link GivenBack}. @param now the monotonic clock. */
export function releaseOf(heldUntil: number | undefined, now: number): ReleaseOutcome {
  if (heldUntil === undefined) return { as: 'abandoned' };
  return { as: 'done', holdFor: Math.max(0, Math.min(heldUntil - now, LONGEST_LEASE_MS)) };
}
