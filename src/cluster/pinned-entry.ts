import type { Entry } from '../engine/entry.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import type { HeldVersion } from './held-version.ts';

type Timed = Pick<ClusterMember, 'timing'>;

/** The pin that is known here is over. */
export function endPin(entry: Entry<unknown>, member: Timed): void {
  const state = clusterStateOf(entry);
  const before = state.held;
  state.happened({ on: 'unpinned' });
  pinEnded(entry, before, member);
}

/** The version in place has no pin any longer. @param before what was in place. */
export function pinEnded(entry: Entry<unknown>, { as, pin }: HeldVersion, { timing }: Timed): void {
  if (pin !== undefined && as === 'published') timing.unpinned(entry, pin.maxStalenessMs);
}
