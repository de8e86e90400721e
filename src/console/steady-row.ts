import type { MemberRow } from './rows.ts';

/** Times that are computed from ages differ by this much without a change, in milliseconds. */
const JITTER_MS = 1500;

/** The row before where nothing has changed since; else the new one, with the earlier times where they differ by jitter only. */
export function steadyRow(before: MemberRow | undefined, row: MemberRow): MemberRow {
  if (before === undefined) return row;
  const earlier = new Map(before.cells.map((cell) => [cell.on, cell]));
  const cells = row.cells.map((cell) => steady(cell, earlier.get(cell.on), 'loadedAt'));
  const loaded = steady(row.here, before.here, 'loadedAt');
  const due = steady(loaded, before.here, 'nextAt');
  const failing = steady(due, before.here, 'failingSince');
  const running = steady(failing, before.here, 'runningSince');
  const { pinned } = running;
  const here = pinned ? { ...running, pinned: steady(pinned, before.here.pinned, 'until') } : running;
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
