import type { Clock } from '../time/clock.ts';

/** How long `close()` waits for aborted tasks to release their leases. */
const RELEASE_GRACE_MS = 1000;

/** The runs of a locked task that are under way, for an orderly shutdown. */
export class RunningTasks {
  readonly #clock: Clock;
  readonly #runs: Map<Promise<unknown>, AbortController> = new Map();
  #closing: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Runs an action until it has settled, its lease released. */
  async track<R>(action: (controller: AbortController) => Promise<R>): Promise<R> {
    const controller = new AbortController();
    const run = action(controller);
    this.#runs.set(run, controller);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Waits for the runs, then aborts those that are left. Every call returns the same promise. Never rejects. */
  close(timeoutMs: number, reason: () => Error): Promise<void> {
    this.#closing ??= this.#drain(timeoutMs, reason);
    return this.#closing;
  }

  async #drain(timeoutMs: number, reason: () => Error): Promise<void> {
    await this.#settled(timeoutMs);
    for (const controller of this.#runs.values()) controller.abort(reason());
    await this.#settled(RELEASE_GRACE_MS);
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
