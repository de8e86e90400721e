import type { SqliteQuery, SqliteQueryClient } from './client-types.ts';
import type { QueryLimits, Session } from './session.ts';

/** Reads row by row, on the caller's stack: neither a signal nor a timeout can end it. */
export function sqliteSession(client: SqliteQueryClient, { maxRows }: QueryLimits): Session {
  return async (_, work) =>
    work(async ({ sql, params, isRaw = false }) => {
      const query = client.prepare(sql);
      if (isRaw) returnRaw(query);
      return readOnly(client, query, () => {
        const rows: unknown[] = [];
        for (const row of query.iterate(...(params as never[])) as Iterable<unknown>) {
          rows.push(row);
          if (rows.length > maxRows) break;
        }
        return rows;
      });
    });
}

/** A statement of these drivers has more than `iterate`: `readonly` in `better-sqlite3`, `run` in both. */
type FullQuery = SqliteQuery & { readonly readonly?: boolean; run?(): unknown };

/** Reads while the connection may change nothing. No other code runs meanwhile. */
function readOnly<R>(client: SqliteQueryClient, query: FullQuery, read: () => R): R {
  if (query.readonly === true) return read();
  if (query.readonly === false) throw new Error('it would change the database');
  const [before] = client.prepare('PRAGMA query_only').iterate() as Iterable<object>;
  const set = (value: unknown): unknown =>
    (client.prepare(`PRAGMA query_only = ${Number(value)}`) as FullQuery).run?.();
  set(1);
  try {
    return read();
  } finally {
    set(Object.values(before ?? {})[0] ?? 0);
  }
}

/** Those of `better-sqlite3`, and of `node:sqlite`, whose rows are objects before Node 22.16. */
const RAW_SWITCHES = ['raw', 'safeIntegers', 'setReturnArrays', 'setReadBigInts'] as const;

function returnRaw(query: SqliteQuery & { [name in (typeof RAW_SWITCHES)[number]]?: unknown }): void {
  for (const name of RAW_SWITCHES) (query[name] as ((isOn: true) => unknown) | undefined)?.call(query, true);
}
