import type { SqliteQuery, SqliteQueryClient } from './client-types.ts';
import type { QueryLimits, Session } from './session.ts';

/** Reads row by row, on the caller's stack: neither a signal nor a timeout can end it. */
export function sqliteSession(client: SqliteQueryClient, { maxRows }: QueryLimits): Session {
  return async (_, work) =>
    work(async ({ sql, params, asArrays = false }) => {
      const rows: unknown[] = [];
      const query = client.prepare(sql);
      if (asArrays) returnArrays(query);
      const found = query.iterate(...(params as never[])) as Iterable<unknown>;
      for (const row of found) {
        rows.push(row);
        if (rows.length > maxRows) break;
      }
      return rows;
    });
}

/** By the method of `better-sqlite3`, or of `node:sqlite`; Node before 22.16 has none. */
function returnArrays(query: SqliteQuery): void {
  const { raw, setReturnArrays } = query as Partial<Record<'raw' | 'setReturnArrays', (on: true) => unknown>>;
  (setReturnArrays ?? raw)?.call(query, true);
}
