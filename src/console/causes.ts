import { LEVELS, type MemberRow, problemLevel } from './rows.ts';

/** The cause of members that have no backend: why it does not answer is shown before. */
export function notShared({ kind }: Pick<MemberRow, 'kind'>): string {
  const next = kind === 'executor' ? 'it does not run when it is due' : 'each instance loads for itself';
  return `the backend does not answer: ${next}`;
}

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
      /** Since when the first of them has failed, or is served by a backup, in epoch milliseconds; `undefined`: not known here. */
      readonly since: number | undefined;
    };

/** A backend that does not answer. It is shown once, before the members. */
function isOutage({ kind, cause }: MemberRow['problems'][number]): boolean {
  return (
    kind === 'backend-down' || (kind === 'checks-failing' && cause !== undefined && UNAVAILABLE.test(cause))
  );
}

/** An outage in the words of the library, and the reason. */
const UNAVAILABLE = /^the backend is unavailable: (.*)$/s;

/** The backends that do not answer, as their errors say it, each once, whatever step has met it. Pure. */
export function outagesOf(rows: readonly MemberRow[]): readonly string[] {
  const shown = new Map<string, string>();
  for (const { cause, message } of rows.flatMap(({ problems }) => problems.filter(isOutage))) {
    const { said, reason } = outage(cause ?? message);
    if (!shown.has(reason)) shown.set(reason, said);
  }
  return [...shown.values()];
}

/** Whether a text is about one of these outages. Pure. */
export function isToldBy(outages: readonly string[], text: string): boolean {
  return UNAVAILABLE.test(text) && outages.some((one) => one.includes(outage(text).reason));
}

/** @returns the text without the step that has met it; and what names the outage: a client says the same at each step, and steps have different times. */
function outage(text: string): { readonly said: string; readonly reason: string } {
  const said = text.replace(/(no answer within [^(,]+?) \([\w-]+\)/, '$1');
  const [, why = said] = UNAVAILABLE.exec(said) ?? [];
  const [, reason = why.replace(/^no answer within .*$/s, 'no answer within')] =
    /, the client reports: (.*)$/s.exec(why) ?? [];
  return { said, reason };
}

/** A problem as the page of its member shows it. */
interface Told extends Pick<MemberRow['problems'][number], 'kind' | 'message' | 'since'> {
  readonly level: MemberRow['level'];
}

/** The problems of a member, the worst first; a backend that does not answer is one of them, whatever has met it. Pure. */
export function toldOf(row: MemberRow): readonly Told[] {
  const own = row.problems.filter((problem) => !isOutage(problem));
  const all: readonly Told[] = [
    ...own.map((problem) => ({ ...problem, level: problemLevel(problem) })),
    ...outagesOf([row]).map((message) => ({
      kind: 'backend-down' as const,
      message,
      level: 'unshared' as const,
    })),
  ];
  return LEVELS.flatMap((level) => all.filter((one) => one.level === level));
}

/** The worst problem of a member, and how many others it has, without outages, which are shown before. Pure. */
export function firstProblem({ problems }: Pick<MemberRow, 'problems'>): {
  readonly first: MemberRow['problems'][number] | undefined;
  readonly others: number;
} {
  const own = problems.filter((problem) => !isOutage(problem));
  const first = LEVELS.flatMap((level) => own.filter((one) => problemLevel(one) === level))[0] ?? problems[0];
  return { first, others: Math.max(0, own.length - 1) };
}

/** The cause of what is wrong with a member, without the name of the member; `undefined`: at most notices. Pure. */
export function causeOf(row: MemberRow): string | undefined {
  const { level, name } = row;
  if (level === 'note' || level === 'ok') return undefined;
  const { first } = firstProblem(row);
  if (level === 'unshared') return notShared(row);
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
    if (
      id === undefined ||
      group === undefined ||
      group.rows.length < (row.level === 'unshared' ? 2 : LEAST_GROUPED)
    )
      return [{ kind: 'member', id: row.id, isInside: false }];
    if (group.rows[0] !== row) return [];
    const instants = group.rows.flatMap(
      (one) => firstProblem(one).first?.since ?? one.here.failingSince ?? [],
    );
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
