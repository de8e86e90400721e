import {
  numbered,
  type Positional,
  propertyOf,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
} from './client.ts';
import type { SqlDialect } from './dialect.ts';

/**
 * What is needed of a client of PostgreSQL: a `Pool`, a `Client` or a `PoolClient` of the package `pg`, version 8, or of
 * one that is made like it. A pool is best: it replaces a connection that broke, or on which a command got no answer.
 */
export interface PostgresClient {
  query(command: PostgresCommand): PromiseLike<PostgresResult>;
}

/** A command as `pg` takes it. */
export interface PostgresCommand {
  text: string;
  values: unknown[];
  /** In milliseconds. Then the client gives up, and a pool closes the connection. */
  query_timeout?: number;
}

/** What is needed of the result of `pg`. */
export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
}

/** clock_timestamp() goes on within a statement, and now() stands still within a transaction: it is read once for each. */
const CLOCK = 'WITH clock AS (SELECT clock_timestamp() AS now)';
const NOW = '(SELECT clock.now FROM clock)';

/** Statements are run in no transaction of their own: each is one. */
export const POSTGRES: SqlDialect = {
  quoted: (identifier) => `"${identifier}"`,
  now: NOW,
  micros: `floor(extract(epoch FROM ${NOW}) * 1000000)::bigint`,
  plus: (instant, ms) => `(${instant} + ${ms}::double precision * interval '1 millisecond')`,
  between: (from, to) => `(extract(epoch FROM (${to} - ${from})) * 1000)`,
  greater: (a, b) => `greatest(${a}, ${b})`,
  beginsWith: (text, prefix) => `left(${text}, char_length(${prefix}::text)) = ${prefix}::text`,
  told: (expression) => expression,
  row: (values) => `(${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`,
  orUpdate: 'ON CONFLICT (name) DO UPDATE SET',
  held: (table, column) => `${table.split('.').at(-1)}.${column}`,
  incoming: (column) => `excluded.${column}`,
  assignsInTurn: false,
};

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES = {
  undefinedTable: '42P01',
  /** CREATE TABLE IF NOT EXISTS looks first and creates then: of two at once, one gets any of these. */
  present: ['42P07', '42710', '23505'],
  /** A serialization failure (only where the sessions are not READ COMMITTED, the default), and a deadlock. */
  contention: ['40001', '40P01'],
} as const;

/** @param timeoutMs how long the client waits for an answer. */
export class PostgresSql implements SqlClient {
  readonly #client: PostgresClient;
  readonly #timeoutMs: number;
  readonly #statements: Map<string, Positional> = new Map();

  constructor(client: PostgresClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = Math.ceil(timeoutMs);
  }

  async query(sql: string, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    return (await this.#send(sql, parameters)).rows as SqlRow[];
  }

  async change(sql: string, parameters: SqlParameters): Promise<{ matched: number; told: number }> {
    return { matched: Number((await this.#send(sql, parameters)).rowCount), told: 0 };
  }

  async hasReturning(): Promise<boolean> {
    return true;
  }

  isTableMissing(error: unknown): boolean {
    return propertyOf(error, 'code') === CODES.undefinedTable;
  }

  isTablePresent(error: unknown): boolean {
    return CODES.present.some((code) => code === propertyOf(error, 'code'));
  }

  isContention(error: unknown): boolean {
    return CODES.contention.some((code) => code === propertyOf(error, 'code'));
  }

  async #send(sql: string, parameters: SqlParameters): Promise<PostgresResult> {
    const statement = this.#statements.get(sql) ?? numbered(sql.includes(NOW) ? `${CLOCK} ${sql}` : sql);
    this.#statements.set(sql, statement);
    const { text } = statement;
    return this.#client.query({ text, values: statement.values(parameters), query_timeout: this.#timeoutMs });
  }
}
