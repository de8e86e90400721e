import type { ExecutionRecord } from './execution-record.ts';

/** One run of a task that has ended: a part of its {@link ExecutionRecord}, and the instance that has run it. */
export interface ExecutorRun extends Pick<ExecutionRecord, 'took' | 'outcome'> {
  /** When it began, in epoch milliseconds; with a lock by the clock of its server. */
  readonly startedAt: number;
  /** The message of its error; not present where it succeeded. */
  readonly error?: string;
  /** The fencing token of its lease; not present where it had none. */
  readonly token?: number;
  /** The host that ran it, for people; not present where runs are kept in memory: it was this one. */
  readonly host?: string;
  /** The process that ran it: the `owner` of its lease. Not present as `host` is not, nor of a `lockedTask`. */
  readonly instance?: string;
}

/** How many runs of a task are kept. */
export const MOST_RUNS = 20;

/** Where the runs of a task are kept for all instances. */
export interface SharedRuns {
  /** Newest first. Rejects with `BACKEND_DOWN`. */
  read(): Promise<readonly ExecutorRun[]>;
  /** Adds one. Never rejects: one that can't be written is not recorded. */
  add(run: ExecutorRun): Promise<void>;
}
