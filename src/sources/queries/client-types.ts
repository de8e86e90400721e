import type { PostgresClient } from '../../drivers/pg.ts';

/** A client of any of these drivers. */
export type QueryClient = PostgresClient | PostgresJsQueryClient | MysqlQueryClient | SqliteQueryClient;

/** The used part of a client of the package `postgres` (postgres.js), version 3. */
export interface PostgresJsQueryClient {
  unsafe(...given: never[]): unknown;
}

/** The used part of a pool or a connection of the package `mysql2`, version 3, with promises or with callbacks. */
export interface MysqlQueryClient {
  query(command: MysqlQuery): unknown;
  execute(...given: never[]): unknown;
  promise?(): unknown;
}

/** A command for `mysql2`. */
export interface MysqlQuery {
  sql: string;
  values: unknown[];
  /** In milliseconds. */
  timeout?: number;
}

/** The used part of a `Database` of `better-sqlite3`, or of a `DatabaseSync` of `node:sqlite`. */
export interface SqliteQueryClient {
  prepare(sql: string): SqliteQuery;
}

/** The used part of a prepared statement. */
export interface SqliteQuery {
  /** Returns an iterable of rows; `object`, because up to TypeScript 5.5 that of `node:sqlite` is typed without its `next`. */
  iterate(...values: never[]): object;
}
