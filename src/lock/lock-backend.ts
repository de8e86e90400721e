import type { AcquireRequest, LeaseId, LockState } from '../cluster/lock-contract.ts';

/**
 * The record of a name as an engine has it. Durations in milliseconds by the engine's clock; those that have passed
 * may be negative.
 */
export interface LockRow {
  readonly name: string;
  readonly token: number;
  readonly owner: string;
  readonly requestId: string;
  readonly host: string;
  readonly state: LockState;
  readonly tookOver: boolean;
  readonly leaseLeft: number;
  readonly holdLeft: number;
  readonly acquiredAgo: number;
  readonly finishedAgo: number | undefined;
  readonly lastError: string | undefined;
  /** The engine's wall clock in epoch milliseconds. */
  readonly now: number;
}

/** How a lease ends: the state of the record from then on. */
export interface Ending {
  readonly state: 'done' | 'failed' | 'abandoned';
  readonly holdFor: number;
  readonly error: string | undefined;
}

/**
 * What an engine does for a lock: each method one atomic step, one command, timed by the engine's clock. `record.ts`
 * says what each step does to a record; the engines' scripts and statements are translations of it.
 *
 * It throws whatever its client throws. `createLock` makes a `LockProvider` of it.
 */
export interface LockEngine {
  /** @returns the record after it: the caller's if it bears his request id and is live, else what keeps him from it. */
  acquire(request: AcquireRequest): Promise<LockRow>;
  /** @returns whether the lease was live and his. */
  extend(lease: LeaseId, leaseFor: number): Promise<boolean>;
  /** @returns whether the lease was live and his, or he had ended it like that before. */
  release(lease: LeaseId, ending: Ending): Promise<boolean>;
  find(name: string): Promise<LockRow | undefined>;
  /** In any order. */
  list(prefix: string, limit: number): Promise<LockRow[]>;
  /** @returns whether the token is the present one. */
  forceRelease(name: string, token: number): Promise<boolean>;
}

/**
 * An instant that lies further in the future than this cannot have been written by the engine's clock as it goes now:
 * that clock has been set back since. It counts as passed, or a lease would last for hours.
 */
export const CLOCK_BACK_MS = 60_000;
