import {
  isMysql2Pool,
  type Mysql2Client,
  onMysql2Connection,
  queryMysql2,
  withPromises,
} from '../../drivers/mysql2.ts';
import { unlessAborted } from '../../time/on-abort.ts';
import type { MysqlQuery, MysqlQueryClient } from './client-types.ts';
import { type Query, type QueryLimits, type Session, statementMs } from './session.ts';

/** Of MySQL, in milliseconds; and of MariaDB, in seconds. Each ignores the comment of the other. */
const TIME = '/*!50708 max_execution_time *//*M! max_statement_time */';

/**
 * Whether transactions of the session may change nothing. That of the transaction is not enough: on MariaDB a statement that commits by
 * itself, such as `DROP TABLE`, ends it first.
 */
const READ_ONLY = '/*!50720 transaction_read_only *//*M! tx_read_only */';

/** Keeps the settings of the session, for {@link RESTORE}. */
const SAVE = `SET @tickless_time = @@SESSION.${TIME}, @tickless_rows = @@SESSION.sql_select_limit, @tickless_read_only = @@SESSION.${READ_ONLY}`;
const RESTORE = `SET SESSION ${TIME} = @tickless_time, SESSION sql_select_limit = @tickless_rows, SESSION ${READ_ONLY} = @tickless_read_only`;

/** A pool, or a connection that others use too: that gets neither a transaction nor a setting. */
export function mysqlSession(given: MysqlQueryClient, limits: QueryLimits): Session {
  const client = withPromises<MysqlQuery>(given);
  const timeoutMs = statementMs(limits);
  if (!isMysql2Pool(client)) {
    const timeout = timeoutMs !== undefined && { timeout: timeoutMs };
    return async (_, work) => work(queryOn(client, timeout));
  }
  return (signal, work) =>
    onMysql2Connection(
      client,
      () => signal.throwIfAborted(),
      () => true, // closes it: its session has other settings
      async (connection) => {
        const send = (sql: string): PromiseLike<unknown> => queryMysql2(connection, { sql, values: [] });
        await send(SAVE);
        await send(settings(limits));
        await send('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
        const result = await unlessAborted(work(queryOn(connection)), signal);
        await send('COMMIT');
        await send(RESTORE);
        return result;
      },
    );
}

function settings(limits: QueryLimits): string {
  const ms = statementMs(limits) ?? 0;
  const time = `/*!50708 max_execution_time = ${ms} *//*M! max_statement_time = ${ms / 1000} */`;
  const rows = limits.maxRows === Infinity ? 'DEFAULT' : limits.maxRows + 1;
  return `SET SESSION ${time}, SESSION sql_select_limit = ${rows}, SESSION ${READ_ONLY} = 1`;
}

function queryOn(client: Mysql2Client<MysqlQuery>, timeout: false | { timeout: number } = false): Query {
  return async ({ sql, params, isRaw }) => {
    const rawMode = isRaw && { rowsAsArray: true, typeCast: bytesOf };
    const rows = await queryMysql2(client, { sql, values: [...params], ...timeout, ...rawMode });
    if (!Array.isArray(rows)) throw new Error('it returns no rows');
    return rows;
  };
}

/** A column as it was sent. */
function bytesOf(field: { buffer(): Uint8Array | null }): Uint8Array | null {
  return field.buffer();
}
