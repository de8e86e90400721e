import type { MemberRow } from './rows.ts';

/** Fewer members with one cause are rows of their own. */
const LEAST_GROUPED = 3;

/** A line of the list: a member, or several that fail for one cause. */
export type Line =
  | { readonly kind: 'member'; readonly id: string; readonly isInside: boolean }
  | {
      readonly kind: 'cause';
      /** Names it: its level and its cause. */
      readonly id: string;
      readonly level: MemberRow['level'];
      readonly cause: string;
      readonly count: number;
      /** Since when the first of them has failed, in epoch milliseconds; `undefined`: not known here. */
      readonly since: number | undefined;
    };

/** The cause of what is wrong with a member, without the name of the member; `undefined`: reads and loads do not fail. Pure. */
export function causeOf({ level, name, problems: [first] }: MemberRow): string | undefined {
  if (level !== 'bad' && level !== 'warn') return undefined;
  const cause = first?.cause ?? first?.message;
  return name.length > 2 ? cause?.replaceAll(name, '…') : cause;
}

/**
 * The rows as lines: members of one level with one cause follow a line of that, in the place of the first of them, and are
 * there only while it is unfolded. Pure.
 */
export function linesOf(rows: readonly MemberRow[], unfolded: ReadonlySet<string>): readonly Line[] {
  const groups = new Map<string, { readonly cause: string; readonly rows: MemberRow[] }>();
  const groupOf = new Map<MemberRow, string>();
  for (const row of rows) {
    const cause = causeOf(row);
    if (cause === undefined) continue;
    const id = `${row.level} ${cause}`;
    const group = groups.get(id) ?? { cause, rows: [] };
    group.rows.push(row);
    groups.set(id, group);
    groupOf.set(row, id);
  }
  return rows.flatMap((row): readonly Line[] => {
    const id = groupOf.get(row);
    const group = id === undefined ? undefined : groups.get(id);
    if (id === undefined || group === undefined || group.rows.length < LEAST_GROUPED)
      return [{ kind: 'member', id: row.id, isInside: false }];
    if (group.rows[0] !== row) return [];
    const instants = group.rows.flatMap(({ here: { failingSince } }) => failingSince ?? []);
    const since = instants.length === 0 ? undefined : Math.min(...instants);
    const count = group.rows.length;
    const head: Line = { kind: 'cause', id, level: row.level, cause: group.cause, count, since };
    const inside = unfolded.has(id) ? group.rows : [];
    return [head, ...inside.map((one): Line => ({ kind: 'member', id: one.id, isInside: true }))];
  });
}

/** The rows as lines, one each. */
export function membersOf(rows: readonly MemberRow[]): readonly Line[] {
  return rows.map(({ id }) => ({ kind: 'member', id, isInside: false }));
}
