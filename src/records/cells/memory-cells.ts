import { ExpiringMap } from '../expiring-map.ts';
import type { Cells, Change, Seen, Swap } from './cells.ts';

interface Cell {
  readonly text: string;
  readonly main: string | undefined;
  readonly longs: ReadonlyMap<string, string>;
  readonly keptUntil: number;
}

/** Cells in the memory of this process. */
export class MemoryCells implements Cells {
  readonly sharesCommands: boolean = true;
  readonly #now: () => number;
  readonly #cells: ExpiringMap<Cell> = new ExpiringMap(({ keptUntil }) => keptUntil);

  /** @param now epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const now = this.#now();
    return { now, answers: changes.map((change) => this.#seen(change, now)) };
  }

  #seen({ name, swap, isWhole, known }: Change, now: number): Seen {
    const cell = this.#cells.get(name);
    if (swap !== undefined && cell?.text === swap.before) {
      this.#replace(name, cell, swap, now);
      return { isDone: true };
    }
    if (cell === undefined) return { isDone: false };
    if (cell.text === swap?.after) return { isDone: true };
    const main = isWhole && cell.main !== known ? cell.longs.get(cell.main ?? '') : undefined;
    return { isDone: false, text: cell.text, main };
  }

  #replace(
    name: string,
    cell: Cell | undefined,
    { after, main, adds, drops, keepForMs }: Swap,
    now: number,
  ): void {
    if (after === undefined) {
      this.#cells.delete(name);
      return;
    }
    const kept = [...(cell?.longs ?? [])].filter(([id]) => !drops.includes(id));
    const longs = new Map(adds === undefined ? kept : [...kept, [adds.id, adds.text]]);
    this.#cells.set(name, { text: after, main, longs, keptUntil: now + keepForMs }, now);
  }

  async long(name: string, ids: readonly string[]): ReturnType<Cells['long']> {
    return ids.map((id) => this.#cells.get(name)?.longs.get(id));
  }

  async list(prefix: string): ReturnType<Cells['list']> {
    const names = this.#cells.names().filter((name) => name.startsWith(prefix));
    const texts = names.map((name) => [name, (this.#cells.get(name) as Cell).text] as const);
    return { now: this.#now(), texts };
  }
}
