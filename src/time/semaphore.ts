import { Line } from './line.ts';

/**
 * Runs at most `limit` actions at a time; the others wait in the order in which they came.
 *
 * It protects a resource that answers badly under a crowd: a pool of ten connections that gets a thousand commands at
 * once answers the last one so late that the backend counts as unavailable.
 */
export class Semaphore {
  /** Starts of the actions that wait. */
  readonly #waiting: Line<() => void> = new Line();
  /** As `#waiting`, of actions that come before those. */
  readonly #urgent: Line<() => void> = new Line();
  #free: number;

  /** @param limit 1 or more; `Infinity`: no limit. */
  constructor(limit: number) {
    this.#free = limit;
  }

  /** How many actions wait for a place. */
  get waiting(): number {
    return this.#waiting.size + this.#urgent.size;
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
    if (!this.tryEnter()) await this.#turn(signal);
    try {
      signal?.throwIfAborted(); // between the turn and this microtask
      return await action();
    } finally {
      this.leave();
    }
  }

  /** As {@link run}, but it waits for no action that waits too, unless that is urgent itself. */
  async runUrgent<R>(action: () => Promise<R>): Promise<R> {
    if (!this.tryEnter()) await new Promise<void>((resolve) => this.#urgent.add(resolve));
    try {
      return await action();
    } finally {
      this.leave();
    }
  }

  /** Takes a place if one is free; {@link leave} gives it back. @returns whether one was free. */
  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /**
   * Queues for a place, where {@link tryEnter} found none.
   *
   * @param start called once with the place taken, from within the {@link leave} of another; it must not throw.
   * @returns leaves the queue.
   */
  queue(start: () => void): () => void {
    this.#waiting.add(start);
    return () => void this.#waiting.delete(start);
  }

  /** Gives a place back: it goes to the action that has waited longest, the urgent ones first. */
  leave(): void {
    const next = this.#urgent.next() ?? this.#waiting.next();
    if (next === undefined) this.#free += 1;
    else next();
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        quit();
        reject(signal?.reason);
      };
      const quit = this.queue(() => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      });
      signal?.addEventListener('abort', giveUp);
    });
  }
}
