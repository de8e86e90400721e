import type { LockProvider } from './lock-contract.ts';
import type { Signals } from './signal-contract.ts';
import type { Codec, SnapshotStore, Store } from './store-contract.ts';

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

/** The methods of a store that members use. */
export type StoreSteps = Pick<
  Store,
  'read' | 'write' | 'confirm' | 'history' | 'reports' | 'keepVersions' | 'longestName'
> & {
  readonly codec: Codec;
  /** As of {@link SnapshotStore}. */
  readonly versions: NonNullable<SnapshotStore['versions']>;
  /** Those that go with its changes. @default none */
  readonly signals?: Signals | undefined;
};
