import type { SqlValue } from './client.ts';
import { COLLATION } from './mysql.ts';
import { literal, longLiteral } from './mysql-literals.ts';

/** A value of a row; `key`: a text that is compared with a column, `long`: one that may be long, `digest`: hexadecimal digits; both as bytes. */
export type MysqlValue = readonly [value: SqlValue | undefined, type?: 'key' | 'long' | 'digest'];

/** A table of literals, whose columns begin with `g_`. The two products write VALUES with several rows differently; both accept this. */
export function rowsOf(rows: readonly Readonly<Record<string, MysqlValue>>[]): string {
  const selects = rows.map((row, i) => {
    const columns = Object.entries(row).map(
      ([name, value]) => `${written(value)}${i === 0 ? ` AS g_${name}` : ''}`,
    );
    return `SELECT ${columns.join(', ')}`;
  });
  return `(${selects.join(' UNION ALL ')}) AS given`;
}

function written([value = null, type]: MysqlValue): string {
  if (value === null || type === undefined) return literal(value);
  if (type === 'digest') return `X'${value}'`;
  return type === 'long' ? longLiteral(String(value)) : `${literal(value)} ${COLLATION}`; // as the columns: the index serves the comparison
}
