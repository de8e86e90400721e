import { systemClock } from '../time/clock.ts';
import {
  expectTime,
  numbered,
  type Positional,
  propertyOf,
  type SqlChange,
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
  /** Pools have it. Then each command is given a connection by `connect`, unless it had to wait too long for it. */
  readonly totalCount?: number;
  /** In a pool: resolves with a connection, which has `release` too. */
  connect?(): unknown;
}

interface Pool extends PostgresClient {
  connect(): PromiseLike<PooledClient>;
}

/** It throws what it emits as `error` when nobody listens. */
interface PooledClient extends PostgresClient {
  /** With an error: the pool closes it. */
  release(error?: unknown): void;
  on(event: 'error', listener: () => void): unknown;
  removeListener(event: 'error', listener: () => void): unknown;
}

/** A command as `pg` takes it. */
export interface PostgresCommand {
  text: string;
  values: unknown[];
  /** In milliseconds, with the time that the command waits in the client's own queue. Then the client gives up. */
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
  returned: (column) => column,
  long: (parameter) => parameter,
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

  async query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]> {
    return (await this.#send(sql, parameters, endAt)).rows as SqlRow[];
  }

  async change(sql: string, parameters: SqlParameters, endAt?: number): Promise<SqlChange> {
    return { matched: Number((await this.#send(sql, parameters, endAt)).rowCount), told: 0 };
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

  async #send(
    sql: string,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<PostgresResult> {
    const statement = this.#statements.get(sql) ?? numbered(sql.includes(NOW) ? `${CLOCK} ${sql}` : sql);
    this.#statements.set(sql, statement);
    const { text } = statement;
    const command = { text, values: statement.values(parameters), query_timeout: this.#timeoutMs };
    if (isPool(this.#client)) return onConnection(this.#client, command, endAt);
    expectTime(endAt);
    // A client that is busy takes it back then, if it has not been sent.
    const left = Math.min(this.#timeoutMs, Math.ceil(endAt - systemClock.monotonic()));
    return this.#client.query({ ...command, query_timeout: Math.max(1, left) });
  }
}

function isPool(client: PostgresClient): client is Pool {
  return typeof client.totalCount === 'number' && typeof client.connect === 'function';
}

/** As the query method of the pool does it, but that this runs no command for which nobody waits any more. */
async function onConnection(pool: Pool, command: PostgresCommand, endAt: number): Promise<PostgresResult> {
  const connection = await pool.connect();
  try {
    expectTime(endAt);
  } catch (error) {
    connection.release();
    throw error;
  }
  const onError = (): void => {}; // the command is rejected too
  connection.on('error', onError);
  try {
    const result = await connection.query(command);
    connection.removeListener('error', onError);
    connection.release();
    return result;
  } catch (error) {
    connection.removeListener('error', onError);
    connection.release(error);
    throw error;
  }
}
