import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { Events } from '../observe/member-events.ts';
import type { ClusterLog } from './cluster-log.ts';
import type { EntryNames } from './entry-names.ts';

/** The parts of a member that its lock and its store share. */
export interface MemberContext {
  readonly options: ResolvedOptions;
  readonly events: Events;
  readonly log: ClusterLog;
  readonly names: EntryNames;
}
