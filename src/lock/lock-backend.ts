import type { AcquireRequest, LeaseExtension, LeaseId, LockRecord } from '../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { CLOCK_BACK_MS } from '../cluster/plausible.ts';

export { CLOCK_BACK_MS };

/** The record of a name as a backend returns it. A duration that is over may be negative. */
export interface LockRow extends LockRecord {
  readonly requestId: string;
  /** The backend's wall clock in epoch milliseconds. */
  readonly now: number;
}

/** How a release ends a lease. */
export interface Ending {
  readonly state: 'done' | 'failed' | 'abandoned';
  readonly holdFor: number;
  readonly error: string | undefined;
  /** As of `ReleaseOutcome`. */
  readonly keepFor?: number | undefined;
}

/** The end of one of several leases. */
export interface LeaseEnd {
  readonly lease: LeaseId;
  readonly ending: Ending;
}

/**
 * The operations of a lock at one backend. Each method is one atomic step, one command, timed by the backend's clock.
 * `record.ts` defines the effect of each step on a record; the scripts and statements of the backends translate it.
 *
 * A method rejects with any error that its client throws. `createLock` turns a `LockBackend` into a `LockProvider`.
 */
export interface LockBackend {
  /** @returns the record after the step: the caller's lease if it has its request id and is live; else the record that prevents it. */
  acquire(request: AcquireRequest): Promise<LockRow>;
  /** @returns whether the lease was live and matched. */
  extend(lease: LeaseId, leaseFor: number): Promise<boolean>;
  /** @returns whether the lease matched, and was live or had ended in the same state before. */
  release(lease: LeaseId, ending: Ending): Promise<boolean>;
  /**
   * `acquire` of several names in one command, or as few as the backend allows; no name occurs twice. Optional, together
   * with `releaseMany`. Each row, or the `Error` of one name, is at the index of its request.
   */
  readonly acquireMany?:
    | ((requests: readonly AcquireRequest[]) => Promise<readonly (LockRow | Error)[]>)
    | undefined;
  /** `release` of several leases, as `acquireMany`. */
  readonly releaseMany?: ((ends: readonly LeaseEnd[]) => Promise<readonly (boolean | Error)[]>) | undefined;
  /** `extend` of several leases, as `acquireMany`, and optional beside it. */
  readonly extendMany?:
    | ((extensions: readonly LeaseExtension[]) => Promise<readonly (boolean | Error)[]>)
    | undefined;
  find(name: string): Promise<LockRow | undefined>;
  /** In any order. */
  list(prefix: string, limit: number): Promise<LockRow[]>;
  /** @returns whether the record has this token. */
  forceRelease(name: string, token: number): Promise<boolean>;
  /**
   * A setting of the backend that breaks a promise of the lock, in a line for people; `undefined`: none is seen. Asked once
   * per lock object, behind the first lease of a member; a rejection counts as none.
   */
  warning?(): Promise<string | undefined>;
}

/** Beginning of `lastError` of a lease that has replaced a damaged record; the name of the damaged field follows. */
export const REPLACED = 'replaced a damaged record: ';

/** The end of a lease or a hold lies no further ahead, unless the record was edited. */
export const LONGEST_AHEAD_MS: number = LONGEST_LEASE_MS + CLOCK_BACK_MS;
