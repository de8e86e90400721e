import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  LockProvider,
  ReleaseOutcome,
} from './lock-contract.ts';
import type { Signals } from './signal-contract.ts';
import type {
  Codec,
  InstanceReport,
  ReplaceAnswer,
  Store,
  StoredSnapshot,
  WriteAnswer,
} from './store-contract.ts';

/** A request for a lease that asks for the snapshot of the name too. */
export interface Claim extends AcquireRequest {
  /** The snapshot is of interest where its version is greater. @default it is not asked for */
  readonly newerThan?: number | undefined;
}

/** The answer to a {@link Claim}. */
export type ClaimAnswer = AcquireAnswer & {
  /**
   * The snapshot, if there is a newer one; without its payload where the lease was given. `Error`: it could not be read.
   * @default undefined: there is none, or it was not asked for
   */
  readonly newer?: StoredSnapshot | Error | undefined;
  /** The snapshot is pinned for that long, in milliseconds: the answer is `done`, with its version. @default undefined: it is not */
  readonly pinnedFor?: number | undefined;
};

/** The snapshot of a round, in the change that ends its lease. */
export type SnapshotChange =
  | {
      readonly as: 'write';
      readonly payload: string;
      readonly rejected: number | undefined;
      readonly keepFor: number | undefined;
    }
  | { readonly as: 'confirm'; readonly version: number; readonly text: string };

/** The answer to a change that ends a round. */
export interface Settled {
  /** As of a write; `lost`: the lease is over, and nothing was written. */
  readonly written: WriteAnswer | { readonly kind: 'lost'; readonly version: number };
  /** The lease has ended as it was to. */
  readonly isReleased: boolean;
}

/** The methods of a lock that members use. */
export interface LockSteps
  extends Pick<LockProvider, 'leaseFor' | 'longestName' | 'extend' | 'release' | 'inspect'> {
  acquire(request: Claim): Promise<ClaimAnswer>;
  /** Changes the snapshot and ends the lease in one step, or does neither. @default undefined: there is no store */
  readonly settle?:
    | ((lease: LeaseId, outcome: ReleaseOutcome, change: SnapshotChange) => Promise<Settled>)
    | undefined;
  /** Where it keeps the runs of tasks, at its own backend. @default nowhere */
  readonly runs?: Pick<Store, 'read' | 'write'> | undefined;
  /** A setting of the backend that breaks a promise, for the log; the first call only. Never rejects. */
  warning?(): Promise<string | undefined>;
}

/** How a person changes a snapshot. Durations are milliseconds. */
export interface PersonalChange {
  /** Made again with the same one, it is done, and nothing changes. */
  readonly id: string;
  /** It is made in the place of this version only; 0: where there is none. @default undefined: of any */
  readonly expected: number | undefined;
  /** It is not made in the place of a pinned version. */
  readonly sparesPinned: boolean;
  /** How long its version is pinned. @default undefined: it is not */
  readonly pinFor: number | undefined;
  /** It ends the lease of the name, also that of another owner, and the next round begins after this time. */
  readonly holdFor: number;
}

/** The methods of a store that members use. */
export type StoreSteps = Pick<Store, 'read' | 'history' | 'reports' | 'keepVersions' | 'longestName'> & {
  readonly codec: Codec;
  /** Writes a snapshot under a version of its own, which is newer than the result of any load before. */
  change(name: string, text: string, change: PersonalChange): Promise<WriteAnswer>;
  /**
   * Writes a text in the place of a version; 0: where there is none. Done again after a lost reply it is `written` again, so no two
   * texts of a name may be the same.
   */
  replace(name: string, text: string, expected: number): Promise<ReplaceAnswer>;
  /** As of {@link Store}; an `Error`: the version of that name alone could not be read. */
  versions(names: readonly string[], report?: InstanceReport): Promise<readonly (number | Error)[]>;
  /** Those that go with its changes. @default none */
  readonly signals?: Signals | undefined;
};
