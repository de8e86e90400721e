import type { BackendLabel } from '../cluster/backend-access.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import type { Records } from './records.ts';

/** How long the record of a name is kept where the option `retention` is left out. */
export const RETENTION: DurationLike = { days: 7 };

/** The particulars of the records of a backend. */
export interface RecordsKind extends BackendLabel {
  /** In bytes of UTF-8. @default names of any length */
  readonly longestName?: number | undefined;
  /** The names of the options that concern the records. */
  readonly options: readonly string[];
  /** The clock of `timeout`: a fake one where the backend is simulated. @default the machine's */
  readonly clock?: Pick<Clock, 'monotonic' | 'setTimeout'> | undefined;
  /** Adds what the client knows of an error that a step has thrown. @default the error as it is */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/** Records that a backend is made of. */
export interface OpenRecords extends RecordsKind {
  readonly records: Records;
}
