import type { Clock } from '../../../src/index.ts';
import type { Source } from '../../../src/sources/index.ts';

/**
 * Work of sources that takes real time in a virtual hour: files, hashes, streams. The virtual time waits for it ({@link done}), but not for what
 * itself waits for virtual time ({@link pause}).
 */
export class RealWork {
  #running = 0;

  watch<T>(source: Source<T>): Source<T> {
    return async (context) => {
      this.#running += 1;
      try {
        return await source(context);
      } finally {
        this.#running -= 1;
      }
    };
  }

  /** A pause in virtual time, which an abort ends. @param ms `Infinity`: only an abort. */
  async pause(signal: AbortSignal, ms: number, clock: Clock): Promise<void> {
    this.#running -= 1;
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = ms < Infinity ? clock.setTimeout(resolve, ms) : undefined;
        const abort = (): void => {
          timer?.cancel();
          reject(signal.reason);
        };
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort);
      });
    } finally {
      this.#running += 1;
    }
  }

  async done(): Promise<void> {
    while (this.#running > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
