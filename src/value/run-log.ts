import type { ExecutionRecord } from '../data/execution-record.ts';
import { type ExecutorRun, MOST_RUNS, type SharedRuns } from '../data/executor-run.ts';

/** Where a run log keeps its runs. */
interface RunLogHost {
  /** `undefined`: in memory. */
  readonly shared: SharedRuns | undefined;
  /** `close()` waits for the end of that work. */
  untilClosed(work: Promise<void>): void;
}

/** The last runs of one task: those of all instances at the backend of its lock, or those of this one in memory. */
export class RunLog {
  readonly #host: RunLogHost;
  /** Newest first. */
  #own: readonly ExecutorRun[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(host: RunLogHost) {
    this.#host = host;
  }

  /** Newest first. Rejects with `BACKEND_DOWN`. */
  async runs(): Promise<readonly ExecutorRun[]> {
    const { shared } = this.#host;
    if (shared === undefined) return this.#own;
    await this.#written;
    return shared.read();
  }

  /** An execution in which the task is not called is none of its runs: another instance has run it, or the lock is down. */
  add(execution: ExecutionRecord): void {
    if (execution.attempts === 0) return;
    const run = runOf(execution);
    const { shared } = this.#host;
    if (shared === undefined) this.#own = [run, ...this.#own].slice(0, MOST_RUNS);
    else {
      this.#written = this.#written.then(() => shared.add(run));
      this.#host.untilClosed(this.#written);
    }
  }
}

function runOf({ startedAt, took, outcome, error, token }: ExecutionRecord): ExecutorRun {
  return {
    startedAt,
    took,
    outcome,
    ...(error === undefined ? {} : { error }),
    ...(token === undefined ? {} : { token }),
  };
}
