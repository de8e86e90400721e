/** One run of a task that has ended. */
export interface ExecutorRun {
  /** When it began, in epoch milliseconds; with a lock by the clock of its server. */
  readonly at: number;
  /** How long it took, tries and pauses included, in milliseconds. */
  readonly took: number;
  readonly result: 'done' | 'failed';
  /** The message of its error; not present where it succeeded. */
  readonly error?: string;
  /** The fencing token of its lease; not present where it had none. */
  readonly token?: number;
  /** The host that ran it, for people; not present where runs are kept in memory: it was this one. */
  readonly host?: string;
  /** The process that ran it: the `owner` of its lease. Not present as `host` is not, and in records of earlier versions. */
  readonly instance?: string;
}

/** Where the runs of a task are kept for all instances. */
export interface SharedRuns {
  /** Newest first. Rejects with `BACKEND_DOWN`. */
  read(most: number): Promise<readonly ExecutorRun[]>;
  /** Adds one. Never rejects: one that can't be written is not recorded. */
  add(run: ExecutorRun, most: number): Promise<void>;
}
