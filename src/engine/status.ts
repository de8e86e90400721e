import type { ExecutionRecord } from '../data/execution-record.ts';
import type { PinStatus } from '../data/pin.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { type MemberCounts, memberCounts } from '../observe/counters.ts';
import type { Events } from '../observe/member-events.ts';
import type { ChecksStatus, CoordinationStatus, LockStatus } from './coordinator.ts';
import { isDue, type RunState } from './decide.ts';
import type { Entry } from './entry.ts';

/** The state of the executions of an executor or value at one instant. A copy: it does not change. */
export interface ExecutionStatus extends JsonStatus {
  /** The `name` option. */
  readonly name: string;
  /** An execution is under way, or about to start behind the read that found it due. */
  readonly running: boolean;
  /** When that began, in epoch milliseconds; behind a lock: when it had the lease. Not present: none is under way. */
  readonly runningSince?: number;
  /** Between `pause()` and `resume()`. */
  readonly paused: boolean;
  /** After `close()`. */
  readonly closed: boolean;
  /** The next execute time has passed, there was no success yet, or it was invalidated. */
  readonly isDue: boolean;
  /**
   * When a read or request may start the next execution, in epoch milliseconds, cool-down included; not in the
   * future when it would start at once. `Infinity`: never by itself.
   */
  readonly nextExecuteTime: number;
  /** When the last successful execution started, in epoch milliseconds; `undefined` before the first. */
  readonly lastStartedAt: number | undefined;
  /** When the last successful execution ended, in epoch milliseconds; `undefined` before the first. */
  readonly lastEndedAt: number | undefined;
  /** Failures in a row, 0 after a success. A schedule that fails counts as one. */
  readonly failures: number;
  /** The last failure; `undefined` after a success. */
  readonly lastError: Error | undefined;
  /** When the first of the failures in a row ended, in epoch milliseconds; not present after a success. */
  readonly failingSince?: number;
  /** How often what has happened; of a key: to all keys of its cache. */
  readonly counts: MemberCounts;
  /**
   * The last 20 executions that have ended here, and the last 10 that failed before these, newest first. Not those that were deferred or
   * late.
   */
  readonly executions: readonly ExecutionRecord[];
  /** The state in the cluster; not present without a lock or a store. */
  readonly lock?: LockStatus;
  /** A person has pinned the version in place: see `rollback`. Not present: it is not pinned, as far as is known here. */
  readonly pinned?: PinStatus;
  /** Since when changes of other instances are known here; not present without `propagateWithin`. */
  readonly checks?: ChecksStatus;
}

/**
 * @param now the monotonic clock in milliseconds, both clocks having been compared.
 * @param offset what the wall clock shows beyond it.
 */
export function executionStatus(
  entry: Entry<unknown>,
  name: string,
  runState: RunState,
  nextExecuteTime: number,
  now: number,
  offset: number,
  cluster: CoordinationStatus | undefined,
  { counters, executions }: Pick<Events, 'counters' | 'executions'>,
): ExecutionStatus {
  const { failingSince, key } = entry;
  const last = entry.isInitial ? undefined : entry.last;
  return withJson({
    name,
    running: entry.flight !== undefined,
    ...(entry.flight && { runningSince: Math.round(offset + entry.flight.startedAt) }),
    paused: runState === 'paused',
    closed: runState === 'closed',
    isDue: cluster?.pinned === undefined && isDue(entry, now),
    nextExecuteTime: cluster?.pinned?.until ?? nextExecuteTime,
    lastStartedAt: last?.startedAt,
    lastEndedAt: last?.endedAt,
    failures: entry.failures,
    lastError: entry.lastError,
    ...(failingSince === undefined ? {} : { failingSince: Math.round(offset + failingSince) }),
    counts: memberCounts(counters),
    executions: key === undefined ? executions.newest : executions.newest.filter((one) => one.key === key),
    ...(cluster && { lock: cluster.lock }),
    ...(cluster?.pinned && { pinned: cluster.pinned }),
    ...(cluster?.checks && { checks: cluster.checks }),
  });
}
