/** Returns the value; counted by the benches. */
type Load = () => Promise<number>;

/** A cache with one value. */
export interface Opened {
  /** A read as its documentation writes it, stale-while-revalidate and stale-if-error switched on. */
  readonly read: () => Promise<unknown>;
  /** A synchronous read, if the library has one. */
  readonly readNow?: () => unknown;
}

/** A library, ready to open a cache of one value. */
export interface Candidate {
  readonly name: string;
  /** The shortest period that it supports, if not 1 ms. */
  readonly leastPeriodMs?: number;
  /** @param periodMs how long the value is fresh after a load. */
  open(load: Load, periodMs: number): Opened;
}

/** Long enough that no value expires during a bench. */
export const KEEP_MS = 3_600_000;
