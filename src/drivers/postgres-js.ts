/**
 * The used part of a client of the package `postgres` (postgres.js), version 3: what `postgres(url)` returns. Not the
 * `sql` of a transaction.
 */
export interface PostgresJsClient {
  unsafe(text: string, values: never[], options: { prepare: boolean }): PostgresJsQuery;
}

/** The used part of a query of postgres.js. */
export interface PostgresJsQuery extends PromiseLike<PostgresJsResult> {
  /** Rejects the query if it is still in the client's queue. */
  cancel(): unknown;
}

/** The used part of a result of postgres.js: an array of rows. */
interface PostgresJsResult {
  readonly count: number | null;
}

/** It is a function: a tagged template. */
export function isPostgresJs(client: unknown): client is PostgresJsClient {
  return typeof client === 'function' && typeof (client as Partial<PostgresJsClient>).unsafe === 'function';
}

/**
 * An option for a query without values: the client then sends nothing behind it before it is answered, as with one that has
 * values and is not prepared. PgBouncer in transaction mode loses the first half of such a query if it arrives behind another
 * one: nothing would answer it. The types of the client lack it.
 */
export const ALONE: object = { onexecute: () => false };

/**
 * A query that is still in the queue of the client is then never sent. To cancel one that was sent would end whatever the server is
 * doing on that connection by then: another query of the application, perhaps. The client does not tell by its types that a
 * connection has taken the query.
 */
export function cancelIfQueued(query: PostgresJsQuery): void {
  if ((query as { readonly state?: unknown }).state === null) query.cancel();
}
