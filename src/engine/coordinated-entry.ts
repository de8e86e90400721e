/** What a coordinator remembers of an entry. The engine and the caches tell it what happened to the entry. */
export interface CoordinatedEntry {
  /** A round is under way, or its lease is being released. */
  readonly isBusy: boolean;
  /** Nothing is to be remembered but the version. */
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
