import type { SqlValue } from './client.ts';
import { COLLATION } from './mysql.ts';
import { BASE64 } from './mysql-literals.ts';

/** A value of a row; `key`: a text that is compared with a column, `long`: one that may be long, as bytes. */
export type MysqlValue = readonly [value: SqlValue | undefined, type?: 'key' | 'long'];

/** Tables of literals for one command, with its parameters. */
export class MysqlRows {
  readonly parameters: Record<string, SqlValue> = {};
  #count = 0;

  /** The two products write VALUES with several rows differently; both accept this form. Its columns begin with `g_`. */
  of(rows: readonly Readonly<Record<string, MysqlValue>>[]): string {
    const selects = rows.map((row) => {
      const columns = Object.entries(row).map(([name, [value = null, type]]) => {
        this.#count += 1;
        const key = `v${this.#count}`;
        this.parameters[key] = value;
        if (value === null || type === undefined) return `:${key} AS g_${name}`;
        if (type === 'long') return `${BASE64}:${key}) AS g_${name}`;
        return `:${key} ${COLLATION} AS g_${name}`; // as the columns: the index serves the comparison
      });
      return `SELECT ${columns.join(', ')}`;
    });
    return `(${selects.join(' UNION ALL ')}) AS given`;
  }
}
