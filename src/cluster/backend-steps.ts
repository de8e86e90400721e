import type { LockProvider } from './lock-contract.ts';
import type { Signals } from './signal-contract.ts';
import type { Codec, ReplaceAnswer, SnapshotStore, Store, WriteAnswer } from './store-contract.ts';

/** The methods of a lock that members use. */
export interface LockSteps
  extends Pick<
    LockProvider,
    'leaseFor' | 'longestName' | 'tellsConfirmations' | 'acquire' | 'extend' | 'release' | 'inspect'
  > {
  /** Where it keeps the runs of tasks, at its own backend. @default nowhere */
  readonly runs?: Pick<SnapshotStore, 'read' | 'write'> | undefined;
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
  /** It ends the lease of the name, whoever has it, and the next round begins after this time. */
  readonly holdFor: number;
}

/** The methods of a store that members use. */
export type StoreSteps = Pick<
  Store,
  'read' | 'write' | 'confirm' | 'history' | 'reports' | 'keepVersions' | 'longestName'
> & {
  readonly codec: Codec;
  /** Writes a snapshot under a version of its own, which is newer than the result of any load before. */
  change(name: string, text: string, change: PersonalChange): Promise<WriteAnswer>;
  /**
   * Writes a text in the place of a version; 0: where there is none. Done again after a lost reply it is `written` again, so no two
   * texts of a name may be the same.
   */
  replace(name: string, text: string, expected: number): Promise<ReplaceAnswer>;
  /** As of {@link SnapshotStore}. */
  readonly versions: NonNullable<SnapshotStore['versions']>;
  /** Those that go with its changes. @default none */
  readonly signals?: Signals | undefined;
};
