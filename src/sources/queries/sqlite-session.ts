import type { SqliteQueryClient } from './client-types.ts';
import type { QueryLimits, Session } from './session.ts';

/** Reads row by row, on the caller's stack: neither a signal nor a timeout can end it. */
export function sqliteSession(client: SqliteQueryClient, { maxRows }: QueryLimits): Session {
  return async (_, work) =>
    work(async ({ sql, params }) => {
      const rows: unknown[] = [];
      const found = client.prepare(sql).iterate(...(params as never[])) as Iterable<unknown>;
      for (const row of found) {
        rows.push(row);
        if (rows.length > maxRows) break;
      }
      return rows;
    });
}
