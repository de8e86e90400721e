import type { Cluster } from '../cluster/cluster.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import { type Gate, isDue } from './decide.ts';
import type { Entry } from './entry.ts';
import type { Timing } from './timing.ts';

/** How the executions of an executor or value stand at one instant. A copy: it does not change. */
export interface ExecutionStatus {
  /** The `name` option. */
  readonly name: string;
  /** An execution is under way, or about to start behind the read that found it due. */
  readonly running: boolean;
  /** Between `pause()` and `resume()`. */
  readonly paused: boolean;
  /** After `close()`. */
  readonly closed: boolean;
  /** The next execute time has passed, or there was no success yet, or it was invalidated. */
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
  /** Failures in a row, 0 after a success. A schedule that can't say when to go on counts as one. */
  readonly failures: number;
  /** The last failure; `undefined` after a success. */
  readonly lastError: Error | undefined;
  /** How it stands in the cluster; no such property without a lock or a store. */
  readonly lock?: LockStatus;
}

/** How an execution stands in the cluster, as far as this instance knows: nothing is asked for it. */
export interface LockStatus {
  /** This instance holds the lease now. */
  readonly isHolder: boolean;
  /** Who held it when it was last asked for; `undefined`: it never was. */
  readonly holder: { readonly owner: string; readonly host: string } | undefined;
  /** The fencing token of that holder. */
  readonly token: number | undefined;
  /**
   * The version of the snapshot that the value is, published or adopted; without a store the token with which it was
   * loaded. `undefined`: it has none.
   */
  readonly version: number | undefined;
  /** Why the lock could not be asked the last time; `undefined`: it answered. */
  readonly lockError: Error | undefined;
  /** Why the store could not be used the last time; `undefined`: it answered. */
  readonly storeError: Error | undefined;
}

/** @param now the monotonic clock in milliseconds, both clocks having been compared. */
export function executionStatus(
  entry: Entry<unknown>,
  { name }: ResolvedOptions,
  gate: Gate,
  timing: Timing,
  now: number,
  cluster: Cluster | undefined,
): ExecutionStatus {
  return {
    name,
    running: entry.flight !== undefined,
    paused: gate === 'paused',
    closed: gate === 'closed',
    isDue: isDue(entry, now),
    nextExecuteTime: timing.nextExecuteTime(entry, now),
    lastStartedAt: entry.last?.startedAt,
    lastEndedAt: entry.last?.endedAt,
    failures: entry.failures,
    lastError: entry.lastError,
    ...(cluster === undefined ? {} : { lock: lockStatus(entry, cluster) }),
  };
}

function lockStatus({ shared }: Entry<unknown>, { lockError, storeError }: Cluster): LockStatus {
  const { holder, round, version = 0, isLocal } = shared ?? {};
  return {
    isHolder: round?.isHolder ?? false,
    holder: holder && { owner: holder.owner, host: holder.host },
    token: holder?.token,
    version: version > 0 && !isLocal ? version : undefined,
    lockError,
    storeError,
  };
}
