import type { SqliteQuery, SqliteQueryClient } from './client-types.ts';
import type { QueryLimits, Session } from './session.ts';

/** Reads row by row, on the caller's stack: neither a signal nor a timeout can end it. */
export function sqliteSession(client: SqliteQueryClient, { maxRows }: QueryLimits): Session {
  return async (_, work) =>
    work(async ({ sql, params, isRaw = false }) => {
      const rows: unknown[] = [];
      const query = client.prepare(sql);
      if (isRaw) returnRaw(query);
      const found = query.iterate(...(params as never[])) as Iterable<unknown>;
      for (const row of found) {
        rows.push(row);
        if (rows.length > maxRows) break;
      }
      return rows;
    });
}

/** Those of `better-sqlite3`, and of `node:sqlite`, whose rows are objects before Node 22.16. */
const RAW_SWITCHES = ['raw', 'safeIntegers', 'setReturnArrays', 'setReadBigInts'] as const;

function returnRaw(query: SqliteQuery & { [name in (typeof RAW_SWITCHES)[number]]?: unknown }): void {
  for (const name of RAW_SWITCHES) (query[name] as ((isOn: true) => unknown) | undefined)?.call(query, true);
}
