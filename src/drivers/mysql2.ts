/** A client of `mysql2` with promises. Only pools have `getConnection`. */
export interface Mysql2Client<C> {
  query(command: C): PromiseLike<readonly [unknown, ...unknown[]]>;
  getConnection?(): PromiseLike<Mysql2Pooled<C>>;
}

/** A pool with promises. */
export interface Mysql2Pool<C> extends Mysql2Client<C> {
  getConnection(): PromiseLike<Mysql2Pooled<C>>;
}

interface Mysql2Pooled<C> extends Mysql2Client<C> {
  release(): void;
  destroy(): void;
}

/** @param client with promises, or with callbacks. */
export function withPromises<C>(client: { promise?(): unknown }): Mysql2Client<C> {
  return (typeof client.promise === 'function' ? client.promise() : client) as Mysql2Client<C>;
}

export function isMysql2Pool<C>(client: Mysql2Client<C>): client is Mysql2Pool<C> {
  return typeof client.getConnection === 'function';
}

/**
 * Sends a command. Errors of the driver have the statement with its values written in, as `sql`: a megabyte of data, or a secret, in
 * each log that shows the causes of errors. It is left out.
 */
export async function queryMysql2<C>(client: Mysql2Client<C>, command: C): Promise<unknown> {
  try {
    const [result] = await client.query(command);
    return result;
  } catch (error) {
    if (error instanceof Error) delete (error as { sql?: string }).sql;
    throw error;
  }
}

/**
 * Works on a connection of its own. The `query` method of a pool keeps a connection that waits for a reply, and reuses it only
 * after the reply: ten such connections would exhaust the pool for as long as TCP waits.
 *
 * @param ready called when there is a connection; where it throws, that is given back unused.
 * @param isBroken whether the connection is closed after this error.
 */
export async function onMysql2Connection<C, R>(
  pool: Mysql2Pool<C>,
  ready: () => void,
  isBroken: (error: unknown) => boolean,
  work: (connection: Mysql2Client<C>) => PromiseLike<R>,
): Promise<R> {
  const connection = await pool.getConnection();
  try {
    ready();
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    if (isBroken(error)) connection.destroy();
    else connection.release();
    throw error;
  }
}
