/**
 * Runs at most `limit` actions at a time; the others wait in the order in which they came.
 *
 * It protects a resource that answers badly under a crowd: a pool of ten connections that gets a thousand commands at
 * once answers the last one so late that the backend counts as unavailable.
 */
export class Semaphore {
  /** Starts of the actions that wait, the longest wait first. */
  readonly #waiting: Set<() => void> = new Set();
  #free: number;

  /** @param limit 1 or more; `Infinity`: no limit. */
  constructor(limit: number) {
    this.#free = limit;
  }

  /**
   * Runs the action: at once while fewer than `limit` others run, else when its turn comes. Resolves and rejects as the
   * action does.
   *
   * @param signal aborted while the action waits, it takes the action out of the queue, and the call rejects with the
   *   reason of the signal. It does not end an action that has started.
   */
  async run<R>(action: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      signal?.throwIfAborted(); // between the turn and this microtask
      return await action();
    } finally {
      this.#release();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(start);
        reject(signal?.reason);
      };
      this.#waiting.add(start);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Passes the place on to the action that has waited longest. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
