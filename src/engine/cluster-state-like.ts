import type { LoadContext } from './load-context.ts';

/** The part of an entry that its coordinator remembers. The engine and the caches report each change to it. */
export interface ClusterStateLike {
  /** A round is under way, or its lease is being released. */
  readonly isBusy: boolean;
  /** A load runs: its round has the lease, or goes on without. */
  readonly isLoading: boolean;
  /** Resolves when the result of the round is published, or could not be. `undefined`: no round is under way. Never rejects. */
  readonly published: Promise<void> | undefined;
  /** Only the version is to be remembered. */
  readonly isAtRest: boolean;
  /** Snapshots of loads that began before no longer count. @param now the monotonic clock. */
  invalidated(now: number): void;
  /** The last snapshot that others can read, however old. `undefined`: there is none, or no round is under way. */
  previous(): Promise<LoadContext['previous']> | undefined;
  /** A caller has joined the round that requires a load begun after its call. */
  requireFresh(): void;
}
