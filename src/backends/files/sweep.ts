import { systemClock } from '../../time/clock.ts';

const EVERY_MS = 3_600_000;

/** While there are folders that are kept for less than the retention. */
const EVERY_MS_IF_BRIEF = 600_000;

/** The most folders of one step, of which at most two are kept. */
const MOST_AT_ONCE = 50;
const MOST_KEPT_AT_ONCE = 2;

/** The result of a visit: the folder is deleted, kept, or kept for less than the retention. */
export type Visited = 'deleted' | 'kept' | 'brief';

/** Visits many folders in small steps, one step behind each write, so that no caller waits for it. */
export class Sweep {
  readonly #folders: () => Promise<readonly string[]>;
  readonly #visit: (folder: string) => Promise<Visited>;
  readonly #retentionMs: number;
  #left: string[] = [];
  #begunAt: number = -Infinity;
  #isBusy = false;
  /** Since the pass began, a folder was seen or written that is kept for less than the retention. */
  #hasBrief = false;

  /**
   * @param folders lists all folders; called at most once an hour, or once in ten minutes while some of them are brief.
   * @param visit processes one folder.
   * @param retentionMs `Infinity`: there is nothing to do but for brief ones.
   */
  constructor(
    folders: () => Promise<readonly string[]>,
    visit: (folder: string) => Promise<Visited>,
    retentionMs: number,
  ) {
    this.#folders = folders;
    this.#visit = visit;
    this.#retentionMs = retentionMs;
  }

  /**
   * Visits some folders in the background: the more of them are deleted, the more. Never throws: a folder that fails is
   * visited again in the next pass.
   *
   * @param isBrief the folder that was just written is kept for less than the retention.
   */
  step(isBrief: boolean): void {
    this.#hasBrief ||= isBrief;
    if (this.#isBusy || (this.#retentionMs === Infinity && !this.#hasBrief && this.#left.length === 0))
      return;
    this.#isBusy = true;
    this.#visitSome()
      .catch(() => {}) // no right to delete, or a deleted directory
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #visitSome(): Promise<void> {
    const now = systemClock.monotonic();
    const every = this.#hasBrief ? EVERY_MS_IF_BRIEF : EVERY_MS;
    if (this.#left.length === 0 && now - this.#begunAt >= every) {
      this.#begunAt = now;
      this.#hasBrief = false;
      this.#left = [...(await this.#folders())];
    }
    let kept = 0;
    for (let visited = 0; visited < MOST_AT_ONCE && kept < MOST_KEPT_AT_ONCE; visited += 1) {
      const folder = this.#left.pop();
      if (folder === undefined) return;
      const found = await this.#visit(folder);
      if (found !== 'deleted') kept += 1;
      this.#hasBrief ||= found === 'brief';
    }
  }
}
