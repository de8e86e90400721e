import { isPgPool, onPgConnection, type PostgresClient, type PostgresCommand } from '../../drivers/pg.ts';
import { ALONE, cancelIfQueued, type PostgresJsClient } from '../../drivers/postgres-js.ts';
import { onAbort, unlessAborted } from '../../time/on-abort.ts';
import type { PostgresJsQueryClient } from './client-types.ts';
import { type Query, type QueryLimits, type Session, statementMs } from './session.ts';

/** One statement, also without values: another one behind it could end the transaction, and change something. */
const ALONE_OF_PG = { queryMode: 'extended' } as const;

/** Sends one text. @returns the rows of its last statement. Without values it may have several statements. */
type Send = (
  text: string,
  values: readonly unknown[],
  mode?: Pick<PostgresCommand, 'rowMode' | 'types'> | typeof ALONE_OF_PG,
) => Promise<readonly unknown[]>;

/** A pool, or a connection that others use too: that gets neither a transaction nor a setting. */
export function pgSession(client: PostgresClient, limits: QueryLimits): Session {
  const timeoutMs = statementMs(limits);
  const plain: Query = async ({ sql, params, isRaw }) => {
    const timeout = timeoutMs && { query_timeout: timeoutMs };
    return (await client.query({ text: sql, values: [...params], ...timeout, ...rawMode(isRaw) })).rows;
  };
  if (!isPgPool(client)) return async (_, work) => work(plain);
  return (signal, work) =>
    onPgConnection(
      client,
      () => signal.throwIfAborted(),
      (connection) => {
        const send: Send = async (text, values, mode) => {
          const result = await connection.query({ text, values: [...values], ...mode });
          return (Array.isArray(result) ? result[0] : result).rows;
        };
        return unlessAborted(inTransaction(send, limits, work), signal); // it then closes the connection
      },
    );
}

/**
 * As on a connection that others use too. A `begin` of postgres.js 3.4 on a connection that breaks takes that from the client for
 * good, and so may one that is reserved.
 */
export function postgresJsSession(client: PostgresJsQueryClient): Session {
  return async (signal, work) =>
    work(async ({ sql, params, isRaw }) => {
      const options = { prepare: false, ...(params.length === 0 && ALONE) };
      const query = (client as PostgresJsClient).unsafe(sql, params as never[], options);
      const forget = onAbort(signal, () => cancelIfQueued(query));
      try {
        const rows = isRaw ? (query as typeof query & Raw).raw() : query;
        return Array.from((await rows) as unknown as readonly unknown[]);
      } finally {
        forget();
      }
    });
}

/** The used part of a query of postgres.js whose rows are to be arrays of bytes. */
interface Raw {
  raw(): PromiseLike<unknown>;
}

const asSent = (text: string): string => text;

function rawMode(isRaw: boolean | undefined): Pick<PostgresCommand, 'rowMode' | 'types'> {
  return isRaw ? { rowMode: 'array', types: { getTypeParser: () => asSent } } : {};
}

async function inTransaction<R>(
  send: Send,
  limits: QueryLimits,
  work: (query: Query) => Promise<R>,
): Promise<R> {
  await send(begin(limits), []);
  const result = await work(queryBy(send, limits));
  await send('COMMIT', []);
  return result;
}

/** All statements of the transaction see one snapshot. A cursor is planned as if all of its rows are to be read. */
function begin(limits: QueryLimits): string {
  const timeout = `SET LOCAL statement_timeout = ${statementMs(limits) ?? 0}`;
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${timeout}; SET LOCAL cursor_tuple_fraction = 1`;
}

/** By a cursor, so that the server sends no more rows than it may. */
function queryBy(send: Send, { maxRows }: QueryLimits): Query {
  const count = maxRows === Infinity ? 'ALL' : maxRows + 1;
  return async ({ sql, params, isRaw }) => {
    await send(`DECLARE tickless NO SCROLL CURSOR FOR ${sql}`, params, ALONE_OF_PG);
    return send(`FETCH ${count} FROM tickless; CLOSE tickless`, [], rawMode(isRaw));
  };
}
