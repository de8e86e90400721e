import { systemClock } from '../time/clock.ts';

const EVERY_MS = 3_600_000;

/** Goes through many folders in small steps, one step behind each write, so that nobody waits for it. */
export class Sweep {
  readonly #folders: () => Promise<readonly string[]>;
  readonly #visit: (folder: string) => Promise<void>;
  #left: string[] = [];
  #begunAt: number = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  /**
   * @param folders all there are; asked once an hour.
   * @param visit what to do with each.
   */
  constructor(folders: () => Promise<readonly string[]>, visit: (folder: string) => Promise<void>) {
    this.#folders = folders;
    this.#visit = visit;
  }

  /** Visits two folders, later. Never throws: a folder that can't be visited is one for the next time. */
  step(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#visitTwo()
      .catch(() => {}) // no right to delete, or a directory that is gone
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #visitTwo(): Promise<void> {
    const now = systemClock.monotonic();
    if (this.#left.length === 0 && now - this.#begunAt >= EVERY_MS) {
      this.#begunAt = now;
      this.#left = [...(await this.#folders())];
    }
    for (const folder of this.#left.splice(-2)) await this.#visit(folder);
  }
}
