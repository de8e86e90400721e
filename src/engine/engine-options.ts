import type { Listeners } from '../observe/listeners.ts';
import type { Membership } from './coordinator.ts';
import type { LoadLimit } from './load-limit.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** The options of a member, and its part in a cluster. */
export interface EngineOptions extends ResolvedOptions {
  /** `undefined` without a lock and a store. */
  readonly membership: Membership | undefined;
  /** A loaded value says the same as the one in place; may throw. `undefined`: each is a new one. */
  readonly isUnchanged: ((before: unknown, now: unknown) => boolean) | undefined;
  /** Limits the calls of its loads; `undefined`: no limit. */
  readonly loadLimit: LoadLimit | undefined;
  /** Those that listen to all members of its group; `undefined`: it has none. */
  readonly listeners: Listeners | undefined;
}
