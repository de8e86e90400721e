import type { TicklessError } from '../errors.ts';

/**
 * Why the load under way answers no caller that comes from now on:
 * - `tag`: a tag was invalidated, which its value may have or not;
 * - `invalidate`: its result will be due at once;
 * - `drop`: its result will not be stored;
 * - `abort`: it has no result any more. Its place is free when it has settled.
 */
export type OutdatedBy = 'tag' | 'invalidate' | 'drop' | 'abort';

/** A load under way, as seen by those that wait for it. See `flight.ts`. */
export interface LoadHandle {
  /** The reason why it is out of date; `undefined`: it is not. */
  outdatedBy: OutdatedBy | undefined;
  /** Out of date, it is to be followed by another load: for reads, or a forced one. */
  reloadAfter: 'read' | 'forced' | undefined;
  /** It has made its first try, or is over. */
  readonly hasStarted: boolean;
  /** Makes the first try now, on the caller's stack, if it still waits for its turn behind a reader. */
  start(): void;
  /** A caller waits: until the matching {@link unref}, the timers of the load keep the process alive. */
  ref(): void;
  unref(): void;
  /** When it began (monotonic); behind a lock: when it had the lease. */
  readonly startedAt: number;
  /** For people: `waiting for source 2`. `undefined`: not known. */
  readonly waitedFor: string | undefined;
  /** When it times out (monotonic). */
  readonly deadlineAt: number;
  /** Ends it from outside: the load is aborted with `reason`, and its result counts as late. */
  end(reason: Error): void;
  /** Ends it from outside, as failed. Its place is free as with {@link abortAndDrain}. @param errorOf also the reason. */
  cancel(errorOf: (attempts: number) => TicklessError): void;
  /** As {@link end}; its place is free when the aborted load has settled, at the latest at its deadline. */
  abortAndDrain(reason: Error): void;
}

/** The flight, as its round sees it. */
export interface FlightScope {
  readonly signal: AbortSignal;
  /** Until when its load may go on if it is ended now (monotonic): its deadline, or 30 s without one. */
  readonly drainDeadline: () => number;
  /**
   * Resolves after half of `ms` to `ms` milliseconds, together with other flights that wait; rejects with the reason when the flight is
   * ended before.
   */
  readonly sleep: (ms: number) => Promise<void>;
}
