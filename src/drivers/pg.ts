/**
 * The used part of a PostgreSQL client: a `Pool`, a `Client` or a `PoolClient` of the package `pg`, version 8, or a
 * compatible one. Prefer a pool: it replaces a connection that broke, or on which a command got no reply.
 */
export interface PostgresClient {
  query(command: PostgresCommand): PromiseLike<PostgresResult>;
  /** Only pools have it. Each command then takes a connection from `connect`, unless it waits too long for it. */
  readonly totalCount?: number;
  /** On a pool: resolves with a connection, which has `release`. */
  connect?(): unknown;
}

/** A command for `pg`. */
export interface PostgresCommand {
  text: string;
  values: unknown[];
  /** Timeout in milliseconds, including the time in the client's own queue. */
  query_timeout?: number;
  rowMode?: 'array';
  /** How the texts of columns are read. */
  types?: { getTypeParser(): (text: string) => unknown };
}

/** The used part of a result of `pg`. */
export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
}

/** A pool of `pg`. */
export interface PgPool extends PostgresClient {
  /** Calls back with a connection, or an error; a compatible pool may return a promise instead. */
  connect(done?: (error: unknown, connection?: PgPooled) => void): PromiseLike<PgPooled> | undefined;
}

/** Throws instead of emitting `error` while it has no `error` listener. */
interface PgPooled extends PostgresClient {
  /** With an error the pool closes the connection. */
  release(error?: unknown): void;
  on(event: 'error', listener: () => void): unknown;
  removeListener(event: 'error', listener: () => void): unknown;
}

export function isPgPool(client: PostgresClient): client is PgPool {
  return typeof client.totalCount === 'number' && typeof client.connect === 'function';
}

/**
 * Works on a connection of its own.
 *
 * @param ready called when there is a connection; where it throws, that is given back unused.
 * @param isUsable whether the connection is given back after this error. @default it is closed after each
 */
export async function onPgConnection<R>(
  pool: PgPool,
  ready: () => void,
  work: (connection: PostgresClient) => PromiseLike<R>,
  isUsable: (error: unknown) => boolean = () => false,
): Promise<R> {
  const onError = (): void => {}; // the command is rejected too
  const connection = await connected(pool, onError);
  try {
    ready();
  } catch (error) {
    connection.removeListener('error', onError);
    connection.release();
    throw error;
  }
  try {
    const result = await work(connection);
    connection.removeListener('error', onError);
    connection.release();
    return result;
  } catch (error) {
    connection.removeListener('error', onError);
    connection.release(isUsable(error) ? undefined : error);
    throw error;
  }
}

/**
 * A connection whose errors have a listener from the moment on at which the pool takes its own away. By a promise it would come a turn
 * later: a server that closes the connection in the packet by which it opens it would end the process.
 */
function connected(pool: PgPool, onError: () => void): Promise<PgPooled> {
  return new Promise((resolve, reject) => {
    const take = (connection: PgPooled): void => {
      connection.on('error', onError);
      resolve(connection);
    };
    const promised = pool.connect((error, connection) => {
      if (connection === undefined) reject(error);
      else take(connection);
    });
    promised?.then(take, reject);
  });
}
