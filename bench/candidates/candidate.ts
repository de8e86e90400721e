/** Brings the value; counted by the benches. */
type Load = () => Promise<number>;

/** One cache that holds one value. */
export interface Opened {
  /** A read as its documentation writes it, stale-while-revalidate and stale-if-error switched on. */
  readonly read: () => Promise<unknown>;
  /** A read without a promise, where there is one. */
  readonly readNow?: () => unknown;
}

/** A library, ready to open a cache of one value. */
export interface Candidate {
  readonly name: string;
  /** The shortest period it takes, where that is not a millisecond. */
  readonly leastPeriodMs?: number;
  /** @param periodMs how long the value is fresh after a load. */
  open(load: Load, periodMs: number): Opened;
}

/** Long enough for no value to be dropped during a bench. */
export const KEEP_MS = 3_600_000;
