import type { Entry } from '../engine/entry.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import type { HeldVersion } from './held-version.ts';
import { pinText } from './pin.ts';

type Timed = Pick<ClusterMember, 'timing' | 'options'>;

/** The pin that is known here is over. */
export function endPin(entry: Entry<unknown>, member: Timed): void {
  const state = clusterStateOf(entry);
  const before = state.held;
  state.happened({ on: 'unpinned' });
  pinEnded(entry, before, member);
}

/** The version in place has no pin any longer. @param before what was in place. */
export function pinEnded(entry: Entry<unknown>, before: HeldVersion, member: Timed): void {
  const { as, pin } = before;
  logPin(entry, before, member);
  if (pin !== undefined && as === 'published') member.timing.unpinned(entry, pin.maxStalenessMs);
}

/** One line for a pin that has begun, or has ended. @param before what was in place. */
export function logPin(
  entry: Entry<unknown>,
  { pin: before }: HeldVersion,
  { options }: Pick<ClusterMember, 'options'>,
): void {
  const { pin } = clusterStateOf(entry).held;
  if (pin !== undefined && pin !== before) options.logger.warn(pinText(options, pin));
  else if (pin === undefined && before !== undefined) options.logger.warn(`no longer pinned by ${before.by}`);
}
