import type { Cells, Change, Seen } from '../../../src/records/cells/cells.ts';
import { KnownClock } from '../../../src/records/cells/known-clock.ts';

/** Cells of one server whose clock the test moves; each call of `swap` is noted. */
export class FakeCells implements Cells {
  readonly mostEdits: number = 100;
  readonly sharesCommands: boolean = true;
  readonly timeoutMs: number = 1000;
  mostBytes: number | undefined;
  now: number = Date.UTC(2026, 0, 1);
  /** As an instance knows it, whose machine has the same one. */
  readonly clock: KnownClock = new KnownClock(() => this.now, true);
  readonly texts: Map<string, string> = new Map();
  readonly #main: Map<string, string | undefined> = new Map();
  readonly longs: Map<string, string> = new Map();
  readonly calls: (readonly Change[])[] = [];
  /** Called before a command takes effect. */
  before: () => void = () => {};
  /** The answer to a change in place of its own. */
  answers: (change: Change, own: Seen) => Seen | Error = (_, own) => own;

  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    this.before();
    this.calls.push(changes);
    return { now: this.now, answers: changes.map((change) => this.answers(change, this.#one(change))) };
  }

  #one({ name, swap, isWhole, known }: Change): Seen {
    const text = this.texts.get(name);
    if (swap === undefined || text !== swap.before) {
      const id = this.#main.get(name);
      const main = isWhole === true && id !== known ? this.longs.get(id ?? '') : undefined;
      return { isDone: false, text, main };
    }
    if (swap.after === undefined) this.texts.delete(name);
    else this.texts.set(name, swap.after);
    if (swap.adds !== undefined) this.longs.set(swap.adds.id, swap.adds.text);
    for (const id of swap.drops) this.longs.delete(id);
    this.#main.set(name, swap.main);
    return { isDone: true };
  }

  async long(_: string, ids: readonly string[]): ReturnType<Cells['long']> {
    return ids.map((id) => this.longs.get(id));
  }

  async list(prefix: string): ReturnType<Cells['list']> {
    return { now: this.now, texts: [...this.texts].filter(([name]) => name.startsWith(prefix)) };
  }
}
