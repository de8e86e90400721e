import type { SqlParameters, SqlValue } from './client.ts';
import type { GivenType, SqlDialect } from './dialect.ts';

/** The SQL expression of a value that the caller gives: for one name a parameter, for several a column of `givenRows`. */
export type Given = (value: string) => string;

export const ofOne: Given = (value) => `:${value}`;

export const ofEach: Given = (value) => `given_${value}`;

/** Characters of the longest statement whose positional form is kept: those for several names have many texts. */
export const LONGEST_KEPT = 10_000;

/** The parameters of `SqlDialect.rows`, row by row. */
export function givenParameters(rows: readonly Readonly<Record<string, SqlValue>>[]): SqlParameters {
  const entries = rows.flatMap((row, i) =>
    Object.entries(row).map(([column, value]) => [`${column}_${i}`, value] as const),
  );
  return Object.fromEntries(entries);
}

/** The cells of `SqlDialect.rows`. */
export function parameterRows(
  columns: Readonly<Record<string, GivenType>>,
  count: number,
  cell: (parameter: string, type: GivenType) => string,
): readonly (readonly string[])[] {
  const entries = Object.entries(columns);
  return Array.from({ length: count }, (_, i) =>
    entries.map(([column, type]) => cell(`:${column}_${i}`, type)),
  );
}

/** `SqlDialect.rows` where VALUES is a relation with the columns `column1`, `column2`, … */
export function valuesRelation(
  columns: Readonly<Record<string, GivenType>>,
  count: number,
  cell: (parameter: string, type: GivenType) => string,
): string {
  const named = Object.keys(columns).map((column, i) => `column${i + 1} AS given_${column}`);
  const rows = parameterRows(columns, count, cell).map((row) => `(${row.join(', ')})`);
  return `(SELECT ${named.join(', ')} FROM (VALUES ${rows.join(', ')}) AS given_values) AS given`;
}

/** `SqlDialect.row` where an INSERT has a name for its row. A SELECT needs the WHERE, or ON would belong to it. */
export const insertedRow: SqlDialect['row'] = (values, rows) => {
  const expressions = Object.values(values).join(', ');
  const source =
    rows === undefined ? `VALUES (${expressions})` : `SELECT ${expressions} FROM ${rows} WHERE TRUE`;
  return `(${Object.keys(values).join(', ')}) ${source}`;
};
