import { systemClock } from '../../time/clock.ts';
import { Semaphore } from '../../time/semaphore.ts';
import { showDuration } from '../../time/show-duration.ts';

/**
 * Runs reads of a directory one after the other. A mount that hangs keeps a thread of the process for each read that it
 * does not answer, and the process has four of them, which also look up host names. So a directory that does not answer
 * keeps one thread, however often it is read.
 */
export class ReadQueue {
  readonly #timeoutMs: number;
  readonly #turns: Semaphore = new Semaphore(1);
  /** Begin of the read under way; `undefined`: none. */
  #begunAt: number | undefined;

  /** @param timeoutMs how long callers wait for a read. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects as the read does, or because the one before it has not been answered; then the read is not begun. */
  async run<R>(read: () => Promise<R>): Promise<R> {
    const askedAt = systemClock.monotonic();
    if (this.#begunAt !== undefined) this.#refuseAfter(this.#begunAt);
    return this.#turns.run(async () => {
      this.#refuseAfter(askedAt); // its caller has stopped waiting
      this.#begunAt = systemClock.monotonic();
      try {
        return await read();
      } finally {
        this.#begunAt = undefined;
      }
    });
  }

  #refuseAfter(since: number): void {
    const passed = systemClock.monotonic() - since;
    if (passed < this.#timeoutMs) return;
    throw new Error(`the file system has not answered a read for ${showDuration(passed)}`);
  }
}
