import type { Overview } from './overview.ts';
import type { MemberRow } from './rows.ts';

/** The changes of an overview. */
export interface OverviewChanges extends Omit<Overview, 'members'> {
  /** The rows that are new, or differ. */
  readonly changed: readonly MemberRow[];
  /** The ids of all members in their order; left out: it is the same. */
  readonly order?: readonly string[];
}

/** Times that are computed from ages differ by this much without a change, in milliseconds. */
const JITTER_MS = 1500;

/** The rows that were sent last, so that only changes follow. */
export class SentRows {
  #rows: ReadonlyMap<string, { readonly row: MemberRow; readonly text: string }> = new Map();
  #order = '';

  /** @returns what differs from the overview before; all of it the first time. */
  next({ members, ...overview }: Overview): OverviewChanges {
    const changed: MemberRow[] = [];
    const rows = new Map<string, { readonly row: MemberRow; readonly text: string }>();
    for (const row of members) {
      const before = this.#rows.get(row.id);
      const steady = before === undefined ? row : withTimesOf(before.row, row);
      const text = JSON.stringify(steady);
      if (text !== before?.text) changed.push(steady);
      rows.set(row.id, { row: steady, text });
    }
    this.#rows = rows;
    const ids = members.map(({ id }) => id);
    const order = JSON.stringify(ids);
    const isSame = order === this.#order;
    this.#order = order;
    return { ...overview, changed, ...(isSame ? {} : { order: ids }) };
  }
}

/** The row with the earlier times where they differ by jitter only. */
function withTimesOf(before: MemberRow, row: MemberRow): MemberRow {
  const earlier = new Map(before.cells.map((cell) => [cell.on, cell.loadedAt]));
  const cells = row.cells.map((cell) => steady(cell, earlier.get(cell.on)));
  return { ...row, here: steady(row.here, before.here.loadedAt), cells };
}

function steady<Timed extends { readonly loadedAt?: number }>(now: Timed, before: number | undefined): Timed {
  const { loadedAt } = now;
  const isJitter = loadedAt !== undefined && before !== undefined && Math.abs(loadedAt - before) < JITTER_MS;
  return isJitter ? { ...now, loadedAt: before } : now;
}
