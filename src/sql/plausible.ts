import { LONGEST_AHEAD_MICROS } from '../cluster/plausible.ts';
import type { SqlDialect } from './dialect.ts';

/** An SQL condition: the column has a token or a version that this backend can have given. Never NULL, nor is the column. */
export function isPlausible({ micros }: SqlDialect, column: string): string {
  return `(${column} >= 0 AND ${column} <= ${micros} + ${LONGEST_AHEAD_MICROS} AND round(${column}) = ${column})`;
}

/** An SQL expression: the token or version that follows that of the column. */
export function successorOf(dialect: SqlDialect, column: string): string {
  const next = dialect.greater(`${column} + 1`, dialect.micros);
  return `CASE WHEN ${isPlausible(dialect, column)} THEN ${next} ELSE ${dialect.micros} END`;
}
