/** The part of an entry that its coordinator remembers. The engine and the caches report each change to it. */
export interface CoordinatedEntry {
  /** A round is under way, or its lease is being released. */
  readonly isBusy: boolean;
  /** Only the version is to be remembered. */
  readonly isAtRest: boolean;
  /** The snapshot of that version, or the absence that it reports, is in place. */
  adopted(version: number): void;
  /** Snapshots of loads that are under way elsewhere no longer count. */
  invalidated(): void;
  /** The hold of the last round came from another schedule. */
  rescheduled(): void;
  /** A caller has joined the round that requires a load begun after its call. */
  requireFresh(): void;
}
