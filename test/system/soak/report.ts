import type { Quarter } from './samples.ts';
import type { Verdict } from './verdict.ts';

/** Formats rows as columns; all but the first are aligned to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, i: number): string =>
    i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;
const whole = (count: number): string => Math.round(count).toLocaleString('en');

/** The report of a part of the soak: a table with a column for each quarter, and the checks. */
export function soakReport({ part, samples, quarters, checks, notes }: Verdict): string {
  const rowsOf = (group: 'live' | 'done'): string[][] =>
    Object.keys((quarters.at(-1) as Quarter)[group]).map((name) => [
      `  ${name}`,
      ...quarters.map((quarter) => whole(quarter[group][name] ?? 0)),
    ]);
  return [
    table([
      [part, ...quarters.map((_, i) => `quarter ${i + 1}`)],
      ['heap after a forced collection', ...quarters.map(({ heap }) => megabytes(heap))],
      ['live (median)'],
      ...rowsOf('live'),
      ['done'],
      ...rowsOf('done'),
    ]),
    `${samples.length} samples; a quarter's heap is the median of its own, after a warm-up`,
    ...notes,
    '',
    table(
      checks.map(({ label, value, bound, isOk }) => [`${isOk ? 'ok  ' : 'FAIL'} ${label}`, value, bound]),
    ),
  ].join('\n');
}
