import { systemClock } from '../time/clock.ts';

const EVERY_MS = 3_600_000;

/** Visits many folders in small steps, one step behind each write, so that no caller waits for it. */
export class Sweep {
  readonly #folders: () => Promise<readonly string[]>;
  readonly #visit: (folder: string) => Promise<void>;
  #left: string[] = [];
  #begunAt: number = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  /**
   * @param folders lists all folders; called at most once an hour.
   * @param visit processes one folder.
   */
  constructor(folders: () => Promise<readonly string[]>, visit: (folder: string) => Promise<void>) {
    this.#folders = folders;
    this.#visit = visit;
  }

  /** Visits two folders in the background. Never throws: a folder that fails is visited again an hour later. */
  step(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#visitTwo()
      .catch(() => {}) // no right to delete, or a deleted directory
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
