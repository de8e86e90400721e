import type { SnapshotStore, StoredReport, StoredVersion } from '../cluster/store-contract.ts';

/** The steps of a backend for a store: as of {@link SnapshotStore}, except that they throw the errors of the client. */
export interface StoreBackend
  extends Pick<
    SnapshotStore,
    'read' | 'write' | 'delete' | 'readMany' | 'writeMany' | 'versions' | 'takesReports'
  > {
  /**
   * The versions of a name, newest first, as of {@link SnapshotStore}. Optional: without it the store keeps one version. A
   * backend with it keeps as many as the option `keepVersions` says:
   *
   * - A write moves the present snapshot to the older ones in the same atomic step, unless the write is refused or
   *   repeats the version. Versions greater than the new one are deleted.
   * - A write with `keepFor` deletes all others, and its snapshot is not kept as an older version.
   * - `read` with a version finds each of them; `delete`, and the end of the retention, delete all.
   */
  readonly history?: ((name: string) => Promise<readonly StoredVersion[]>) | undefined;
  /**
   * The reports of instances that begin with a text, as of {@link SnapshotStore}: at most 1,000. Optional; a
   * backend with it stores the report of `versions`, and with `takesReports` those of other steps.
   */
  readonly reports?: ((beginning: string) => Promise<readonly StoredReport[]>) | undefined;
}
