import type { ExecutorRun, SharedRuns } from '../data/executor-run.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import { reasonOf } from '../errors.ts';
import type { ExecutionEnd, ExecutionTrace, Instrument } from '../observe/instrument.ts';

/** Where a run log keeps its runs. */
interface RunLogHost {
  /** `undefined`: in memory. */
  readonly shared: SharedRuns | undefined;
  /** `close()` waits for the end of that work. */
  untilClosed(work: Promise<void>): void;
}

/** The last runs of one task: those of all instances at the backend of its lock, or those of this one in memory. */
export class RunLog implements Instrument {
  readonly isWanted: boolean;
  readonly #options: Pick<EngineOptions, 'clock' | 'now'>;
  readonly #most: number;
  readonly #host: RunLogHost;
  /** Newest first. */
  #own: readonly ExecutorRun[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(options: Pick<EngineOptions, 'clock' | 'now'>, most: number, host: RunLogHost) {
    this.isWanted = most > 0;
    this.#options = options;
    this.#most = most;
    this.#host = host;
  }

  /** Newest first. Rejects with `LockUnavailableError`. */
  async runs(): Promise<readonly ExecutorRun[]> {
    const { shared } = this.#host;
    if (shared === undefined || !this.isWanted) return this.#own;
    await this.#written;
    return shared.read(this.#most);
  }

  /** An execution in which the task is not called is none of its runs: another instance has run it, or the lock is down. */
  begin(): ExecutionTrace {
    const { clock, now } = this.#options;
    let began: { readonly at: number; readonly since: number } | undefined;
    return {
      call: (_, load) => {
        began ??= { at: now(), since: clock.monotonic() };
        return load();
      },
      end: (end) => {
        if (began !== undefined) this.#add(runOf(end, began.at, clock.monotonic() - began.since));
      },
    };
  }

  #add(run: ExecutorRun): void {
    const { shared } = this.#host;
    if (shared === undefined) this.#own = [run, ...this.#own].slice(0, this.#most);
    else {
      this.#written = this.#written.then(() => shared.add(run, this.#most));
      this.#host.untilClosed(this.#written);
    }
  }
}

function runOf({ error, token }: ExecutionEnd, at: number, took: number): ExecutorRun {
  const lease = token === undefined ? {} : { token };
  if (error === undefined) return { at, took, result: 'done', ...lease };
  return { at, took, result: 'failed', error: reasonOf(error).replace(/^load failed: /, ''), ...lease };
}
