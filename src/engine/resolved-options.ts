import type { IdOf } from '../data/id-of.ts';
import type { SafeLogger } from '../observe/logger.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { StandardSchema } from '../schema.ts';
import type { Clock } from '../time/clock.ts';
import type { CoolDown } from './cool-down.ts';
import type { WhenFailing, WhenTooStale } from './decide.ts';
import type { ResolvedRetry } from './retry.ts';

/** Whether a due execution whose lock is unavailable runs without the lock, or not at all. */
export type WhenBackendDown = 'load' | 'skip';

/** The options of a member with nothing optional left, durations in milliseconds. Frozen. */
export interface ResolvedOptions {
  readonly name: string;
  /** Begins the names of its locks and snapshots. */
  /** A value, the keys of a cache, or a task, which has no value. */
  readonly kind: 'value' | 'key' | 'task';
  readonly schedule: Schedule;
  /** The schedule in milliseconds, where it is a duration; else NaN. */
  readonly periodMs: number;
  readonly retry: ResolvedRetry | undefined;
  /** To bridge a blip, not an outage: one try while the last execution failed. */
  readonly isRetryDefault: boolean;
  readonly coolDown: CoolDown;
  readonly timeoutMs: number;
  readonly maxStalenessMs: number;
  readonly whenTooStale: WhenTooStale;
  readonly whenFailing: WhenFailing;
  /** Checks values before they replace anything; `undefined`: no check. */
  readonly schema: StandardSchema | undefined;
  /** The identity of a record of a list, as the guard or the source says. */
  readonly idOf: IdOf | undefined;
  /** How long a key stays absent. */
  readonly absentForMs: number;
  /** Within what time it takes over changes of other instances, in milliseconds. */
  readonly propagateWithinMs: number;
  readonly waitUntil: WaitUntil | undefined;
  readonly logger: SafeLogger;
  /** The clock of this machine: durations, timers. */
  readonly clock: Clock;
  /** The wall clock that schedules follow, in epoch milliseconds: that of the lock's server where there is a lock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly whenBackendDown: WhenBackendDown;
}
