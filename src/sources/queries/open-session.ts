import { warnWithoutErrorListener } from '../../drivers/error-listener.ts';
import type { PostgresClient } from '../../drivers/pg.ts';
import { isPostgresJs } from '../../drivers/postgres-js.ts';
import type {
  MysqlQueryClient,
  PostgresJsQueryClient,
  QueryClient,
  SqliteQueryClient,
} from './client-types.ts';
import { mysqlSession } from './mysql-session.ts';
import { pgSession, postgresJsSession } from './postgres-session.ts';
import type { QueryLimits, Session } from './session.ts';
import { sqliteSession } from './sqlite-session.ts';

/** The driver that a client is of, by the methods that it alone has. `undefined`: none of these. */
export function driverOf(client: unknown): 'pg' | 'postgres.js' | 'mysql2' | 'sqlite' | undefined {
  const has = (name: string): boolean =>
    typeof (client as Record<string, unknown> | null | undefined)?.[name] === 'function';
  if (isPostgresJs(client)) return 'postgres.js';
  if (has('query') && has('execute')) return 'mysql2';
  if (has('prepare')) return 'sqlite'; // that of Bun has `query` too
  return has('query') ? 'pg' : undefined;
}

/** @param client one that {@link driverOf} knows. */
export function openSession(client: QueryClient, limits: QueryLimits): Session {
  switch (driverOf(client)) {
    case 'postgres.js':
      return postgresJsSession(client as PostgresJsQueryClient);
    case 'mysql2':
      if (!('getConnection' in client)) warnWithoutErrorListener(client, "connection.on('error', () => {})");
      return mysqlSession(client as MysqlQueryClient, limits);
    case 'sqlite':
      return sqliteSession(client as SqliteQueryClient, limits);
    default:
      warnWithoutErrorListener(client, "pool.on('error', () => {})");
      return pgSession(client as PostgresClient, limits);
  }
}
