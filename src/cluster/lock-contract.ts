/** A request for a lease. All durations are milliseconds; no instant of the caller's clock reaches the backend. */
export interface AcquireRequest {
  /** The name to lock. The same on all instances. Well-formed Unicode without U+0000, as `owner`, `requestId` and `host`. */
  readonly name: string;
  /** The caller: unique per start of a process. */
  readonly owner: string;
  /**
   * Identifies this request. A second acquire with the same id, for example because the first reply was lost, returns
   * the same lease with its remaining time.
   */
  readonly requestId: string;
  /** Length of the lease unless it is extended, in milliseconds. Over 0, at most `LONGEST_LEASE_MS`. */
  readonly leaseFor: number;
  /** Host name of the caller. Shown to operators; never compared. */
  readonly host: string;
  /** Ignores the hold of a finished round and the backoff of a failed one; never a live lease, nor that of a version which is pinned. */
  readonly force: boolean;
}

/** Identifies one lease. `extend` and `release` must match it, so that they never change the next holder's lease. */
export interface LeaseId {
  readonly name: string;
  readonly requestId: string;
  /** The fencing token: grows with each acquire of the name, over crashes, takeovers and a backend that lost its data. */
  readonly token: number;
}

/** A lease that an acquire has granted. */
export interface Lease extends LeaseId {
  readonly owner: string;
  /** Remaining time of the lease when the backend replied, in milliseconds. */
  readonly remaining: number;
}

/** The result of an acquire. Contention is a result, not an error. `now` is the backend's wall clock in epoch milliseconds. */
export type AcquireAnswer =
  | {
      readonly kind: 'acquired';
      readonly lease: Lease;
      /** The previous holder let its lease expire: it crashed, or was paused for longer than its lease. */
      readonly tookOver: boolean;
      /**
       * The damage of the record that this lease replaces: it was edited outside of the library, and is implausible or of a
       * wrong type. Reported with this lease only. @default undefined: it was sound
       */
      readonly damage?: string | undefined;
      readonly now: number;
    }
  | {
      /** Another holder has the lease, or the last round failed and its backoff is not over. */
      readonly kind: 'held';
      /** Milliseconds until the lease (or the backoff) ends by itself, over 0. */
      readonly retryAfter: number;
      /** Milliseconds since the lease was acquired. */
      readonly heldFor: number;
      readonly owner: string;
      readonly host: string;
      readonly token: number;
      /** The lease is free, but the round failed: it may be tried again after `retryAfter`. */
      readonly isBackoff: boolean;
      readonly now: number;
    }
  | {
      /** Another instance has completed the round. */
      readonly kind: 'done';
      /** Milliseconds until the next round may begin, over 0. */
      readonly retryAfter: number;
      /** Milliseconds since the round was completed. */
      readonly finishedAgo: number;
      readonly owner: string;
      readonly host: string;
      /** The token of the completed round. */
      readonly token: number;
      /** As it was released. @default undefined: nothing */
      readonly confirms?: string | undefined;
      readonly now: number;
    };

/** How a round ended. */
export type ReleaseOutcome =
  | {
      /** Completed: the next round may begin `holdFor` milliseconds from now; 0: at once. From 0 to `LONGEST_LEASE_MS`. */
      readonly as: 'done';
      readonly holdFor: number;
      /**
       * The record is of no use for longer than this after the hold, in milliseconds: the source has no such key. The
       * backend keeps it for this long or for its retention, whichever is shorter; the next acquire counts as any. Over 0,
       * finite. An adapter may ignore it. @default undefined: the retention
       */
      readonly keepFor?: number | undefined;
      /**
       * The result of the round is the version before it, and this is the text that the store has beside that: those who hold that
       * version need not read it. At most 4,096 characters. An adapter may ignore it. @default undefined: it has another result
       */
      readonly confirms?: string | undefined;
    }
  | {
      /** Failed: any instance may try the same round again after `holdFor` milliseconds. From 0 to `LONGEST_LEASE_MS`. */
      readonly as: 'failed';
      readonly holdFor: number;
      /** Reason of the failure, shown to operators. */
      readonly error?: string | undefined;
    }
  | {
      /** Ended without a result: any instance may begin at once, unless this lease has ignored a hold: that goes on then. */
      readonly as: 'abandoned';
    };

/**
 * State of the last round of a name. `running`: its lease is live, or has expired without a takeover so far.
 * `released`: an operator has ended it. `registered`: there was none yet, an instance has made the name known (`register()`).
 */
export type LockState = 'running' | 'done' | 'failed' | 'abandoned' | 'released' | 'registered';

/** The record of one name, for operators. A copy. All durations are milliseconds by the backend's clock. */
export interface LockRecord {
  readonly name: string;
  readonly token: number;
  readonly owner: string;
  readonly host: string;
  readonly state: LockState;
  /** This holder replaced one that had let its lease expire. */
  readonly tookOver: boolean;
  /** Remaining time of the lease; 0: the name is not leased. */
  readonly leaseLeft: number;
  /** Time until the next round may begin; 0: at once. */
  readonly holdLeft: number;
  readonly acquiredAgo: number;
  /** `undefined` while the round runs. */
  readonly finishedAgo: number | undefined;
  /** Error of the last round, if it failed. While a round runs: the damage of the record that it has replaced. */
  readonly lastError: string | undefined;
}

/** Options of `list`. */
export interface ListOptions {
  /** Only names that begin with this text. @default all */
  readonly prefix?: string | undefined;
  /** The most records to return. A whole number from 1. @default 1000 */
  readonly limit?: number | undefined;
}

/**
 * A distributed lock: one holder per name at a time, and one completed execution per round.
 *
 * Only the backend's clock decides; only durations travel. Each method is one atomic step at the backend. It rejects
 * with `BACKEND_DOWN` within a bounded time when the backend does not answer, and with `OPTION` when an
 * argument breaks a rule; with nothing else.
 *
 * The token of an acquire is `max(previous + 1, the backend's clock in microseconds)`: a safe integer that grows
 * strictly per name, also when the backend has lost its data. The record of a name outlives its lease, so that holds
 * and tokens survive.
 *
 * A record that was edited counts as absent where no step can have written it: a lease or hold that ends later than
 * `LONGEST_LEASE_MS` from now, a token that is further ahead of the backend's clock, a field of a wrong type. The next
 * acquire replaces it, with a token that grows, and reports it as `damage`.
 *
 * To write one: `createBackend` of `tickless/backend` makes it of records, and `asLock` of three methods. `lockConformance` of
 * `tickless/testing` tests the result.
 */
export interface LockProvider {
  /** Default length of a lease, in milliseconds. */
  readonly leaseFor: number;
  /** The longest name that the lock accepts, in bytes of UTF-8. `undefined`: any length. */
  readonly longestName?: number | undefined;
  /** Requests a lease. Of concurrent callers exactly one is answered `acquired`, the others `held` or `done`. */
  acquire(request: AcquireRequest): Promise<AcquireAnswer>;
  /**
   * Makes a live lease last `leaseFor` milliseconds from now, also if that is less than before.
   *
   * @returns false: the lease has expired, was released, or belongs to another holder.
   */
  extend(lease: LeaseId, leaseFor: number): Promise<boolean>;
  /**
   * Ends a live lease. A second call with the same state and `confirms`, after a lost reply, returns true again and changes nothing;
   * one with another text changes nothing, and may return false.
   *
   * @returns false: the lease has expired or belongs to another holder; nothing was changed.
   */
  release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean>;
  /** The record of a name; `undefined`: never acquired, or deleted after the retention. */
  inspect(name: string): Promise<LockRecord | undefined>;
  /** The records of all names that match, ordered by name. */
  list(options?: ListOptions): Promise<LockRecord[]>;
  /**
   * For operators: ends the lease or the hold with this token, so that any instance may begin at once. The extension
   * and release of the old holder return false from then on.
   *
   * @returns false: the record has another token, or does not exist; nothing was changed.
   */
  forceRelease(name: string, token: number): Promise<boolean>;
}
