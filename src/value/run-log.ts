import type { ExecutionRecord } from '../data/execution-record.ts';
import type { ExecutorRun, SharedRuns } from '../data/executor-run.ts';

/** Where a run log keeps its runs. */
interface RunLogHost {
  /** `undefined`: in memory. */
  readonly shared: SharedRuns | undefined;
  /** `close()` waits for the end of that work. */
  untilClosed(work: Promise<void>): void;
}

/** The last runs of one task: those of all instances at the backend of its lock, or those of this one in memory. */
export class RunLog {
  readonly #most: number;
  readonly #host: RunLogHost;
  /** Newest first. */
  #own: readonly ExecutorRun[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(most: number, host: RunLogHost) {
    this.#most = most;
    this.#host = host;
  }

  /** Newest first. Rejects with `LockUnavailableError`. */
  async runs(): Promise<readonly ExecutorRun[]> {
    const { shared } = this.#host;
    if (shared === undefined || this.#most === 0) return this.#own;
    await this.#written;
    return shared.read(this.#most);
  }

  /** An execution in which the task is not called is none of its runs: another instance has run it, or the lock is down. */
  add(execution: ExecutionRecord): void {
    if (execution.attempts === 0 || this.#most === 0) return;
    const run = runOf(execution);
    const { shared } = this.#host;
    if (shared === undefined) this.#own = [run, ...this.#own].slice(0, this.#most);
    else {
      this.#written = this.#written.then(() => shared.add(run, this.#most));
      this.#host.untilClosed(this.#written);
    }
  }
}

function runOf({ startedAt: at, took, error, token }: ExecutionRecord): ExecutorRun {
  const lease = token === undefined ? {} : { token };
  return error === undefined
    ? { at, took, result: 'done', ...lease }
    : { at, took, result: 'failed', error, ...lease };
}
