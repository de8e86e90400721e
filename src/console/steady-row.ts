import type { MemberRow } from './rows.ts';

/** Times that are computed from ages differ by this much without a change, in milliseconds. */
const JITTER_MS = 1500;
const TIMES = ['loadedAt', 'nextAt', 'failingSince', 'runningSince'] as const;

/** The row before where nothing has changed since; else the new one, with the earlier times where they differ by jitter only. */
export function steadyRow(before: MemberRow | undefined, row: MemberRow): MemberRow {
  if (before === undefined) return row;
  const earlier = new Map(before.cells.map((cell) => [cell.on, cell]));
  const cells = row.cells.map((cell) => steady(cell, earlier.get(cell.on), 'loadedAt'));
  const timed = TIMES.reduce((here, field) => steady(here, before.here, field), row.here);
  const { pinned } = timed;
  const here = pinned ? { ...timed, pinned: steady(pinned, before.here.pinned, 'until') } : timed;
  const now = { ...row, here, cells };
  // Their fields have the same order.
  return JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

function steady<Field extends string, Timed extends { readonly [field in Field]?: number }>(
  now: Timed,
  before: Timed | undefined,
  field: Field,
): Timed {
  const [at, earlier] = [now[field], before?.[field]];
  const isJitter = at !== undefined && earlier !== undefined && Math.abs(at - earlier) < JITTER_MS;
  return isJitter ? { ...now, [field]: earlier } : now;
}
