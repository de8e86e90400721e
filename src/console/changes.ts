import type { Overview } from './overview.ts';
import type { MemberRow } from './rows.ts';

/** The changes of an overview. */
export interface OverviewChanges extends Omit<Overview, 'members'> {
  /** The rows that are new, or differ. */
  readonly changed: readonly MemberRow[];
  /** The ids of all members in their order; left out: it is the same. */
  readonly order?: readonly string[];
}

/** The changes from one overview to the next, for all pages: each of them has seen some. */
export class Changes {
  /** How many overviews differed from the one before. A page that has seen none is at 0. */
  #revision = 0;
  #rows: ReadonlyMap<string, { readonly row: MemberRow; readonly since: number }> = new Map();
  #order: { readonly ids: readonly string[]; readonly since: number } = { ids: [], since: 0 };

  get revision(): number {
    return this.#revision;
  }

  /** Takes the next overview into account. A row that has not changed is the same object as before. */
  take(members: readonly MemberRow[]): void {
    const since = this.#revision + 1;
    const rows = new Map<string, { readonly row: MemberRow; readonly since: number }>();
    let isChanged = this.#revision === 0;
    for (const row of members) {
      const before = this.#rows.get(row.id);
      const isSame = before?.row === row;
      isChanged ||= !isSame;
      rows.set(row.id, isSame ? before : { row, since });
    }
    const ids = members.map(({ id }) => id);
    const isOrdered =
      ids.length === this.#order.ids.length && ids.every((id, at) => id === this.#order.ids[at]);
    if (!isOrdered || this.#revision === 0) this.#order = { ids, since };
    if (isChanged || !isOrdered) this.#revision = since;
    this.#rows = rows;
  }

  /** The changes for a page that has seen the revision. */
  since(revision: number): Pick<OverviewChanges, 'changed' | 'order'> {
    const changed = [...this.#rows.values()].flatMap(({ row, since }) => (since > revision ? [row] : []));
    return { changed, ...(this.#order.since > revision ? { order: this.#order.ids } : {}) };
  }
}
