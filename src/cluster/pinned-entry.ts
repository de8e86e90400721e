import type { Entry } from '../engine/entry.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';

/** The pin that is known here is over. */
export function endPin(entry: Entry<unknown>, { timing }: Pick<ClusterMember, 'timing'>): void {
  const state = clusterStateOf(entry);
  const { pin, isUnpublished } = state;
  state.pin = undefined;
  if (pin !== undefined && !isUnpublished) timing.unpinned(entry, pin.maxStalenessMs);
}
