import type { ListedEdition, Records } from '../../records/records.ts';
import { clockIn, endOf, rowOf } from './record-sql.ts';
import type { SqlTable } from './sql-table.ts';

/** The server's clock, as a row tells it, in epoch milliseconds. */
export interface Clock {
  now: number;
}

/** `Records.list` by a statement of `:prefix`, `:end` and `:limit`. */
export async function listBy(
  table: SqlTable,
  statement: string,
  prefix: string,
  limit: number,
): ReturnType<Records['list']> {
  const rows = await table.query(statement, { prefix, end: endOf(prefix), limit });
  return { now: clockIn(rows), rows: rows.map((row) => [String(row.name), rowOf(row)] as const) };
}

/** `Records.editions` by a statement of `:name` and `:beginning`. */
export async function editionsBy(
  table: SqlTable,
  statement: string,
  name: string,
  beginning: number,
): Promise<ListedEdition[]> {
  const rows = await table.query(statement, { name, beginning });
  return rows.map((row) => ({ row: rowOf(row), bytes: Number(row.bytes) }));
}
