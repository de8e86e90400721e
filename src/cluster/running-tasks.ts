import { type CloseReport, closeReport } from '../data/close-report.ts';
import type { Clock } from '../time/clock.ts';
import type { HeldLease } from './held-lease.ts';

/** How long `close()` waits for aborted tasks to release their leases. */
const RELEASE_GRACE_MS = 1000;

/** A run of a locked task. */
export interface TaskRun {
  /** That of its lock. */
  readonly name: string;
  readonly controller: AbortController;
  /** `undefined`: it has none yet. */
  lease: HeldLease | undefined;
}

/** The runs of a locked task that are under way, for an orderly shutdown. */
export class RunningTasks {
  readonly #clock: Clock;
  readonly #runs: Map<Promise<unknown>, TaskRun> = new Map();
  /** Those that have ended since {@link close}. */
  readonly #ended: TaskRun[] = [];
  #closing: Promise<CloseReport> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Runs an action until it has settled, its lease released. */
  async track<R>(name: string, action: (run: TaskRun) => Promise<R>): Promise<R> {
    const run: TaskRun = { name, controller: new AbortController(), lease: undefined };
    const result = action(run);
    this.#runs.set(result, run);
    try {
      return await result;
    } finally {
      this.#runs.delete(result);
      if (this.isClosed) this.#ended.push(run);
    }
  }

  /** Waits for the runs, then aborts those that are left. Every call returns the same promise. Never rejects. */
  close(timeoutMs: number, reason: () => Error): Promise<CloseReport> {
    this.#closing ??= this.#drain(timeoutMs, reason);
    return this.#closing;
  }

  async #drain(timeoutMs: number, reason: () => Error): Promise<CloseReport> {
    await this.#settled(timeoutMs);
    const aborted = Array.from(this.#runs.values(), ({ name }) => ({ name }));
    for (const { controller } of this.#runs.values()) controller.abort(reason());
    await this.#settled(RELEASE_GRACE_MS);
    const leases = [...this.#ended, ...this.#runs.values()].flatMap(({ name, lease }) =>
      lease?.mayBeHeld === true ? [{ name, token: lease.id.token }] : [],
    );
    return closeReport({ aborted, leases });
  }

  /** Resolves when no run is under way, or after `ms`. */
  async #settled(ms: number): Promise<void> {
    if (this.#runs.size === 0 || ms === 0) return;
    await new Promise<void>((resolve) => {
      const timer = ms === Infinity ? undefined : this.#clock.setTimeout(resolve, ms);
      timer?.ref();
      void Promise.allSettled(this.#runs.keys()).then(() => {
        timer?.cancel();
        resolve();
      });
    });
  }
}
