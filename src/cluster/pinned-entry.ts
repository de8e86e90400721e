import type { Entry } from '../engine/entry.ts';
import type { ClusterMember } from './cluster-member.ts';
import { sharedStateOf } from './shared-state.ts';

/** The pin that is known here is over. */
export function endPin(entry: Entry<unknown>, { timing }: Pick<ClusterMember, 'timing'>): void {
  const state = sharedStateOf(entry);
  const { pin, isUnpublished } = state;
  state.pin = undefined;
  if (pin !== undefined && !isUnpublished) timing.unpinned(entry, pin.maxStalenessMs);
}
