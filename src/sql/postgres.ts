import { systemClock } from '../time/clock.ts';
import {
  type Positional,
  propertyOf,
  type SqlBatch,
  type SqlChange,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  throwIfLate,
  withNumbers,
} from './client.ts';
import type { GivenType, SqlDialect } from './dialect.ts';
import { insertedRow, LONGEST_KEPT, valuesRelation } from './given.ts';

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

interface Pool extends PostgresClient {
  connect(): PromiseLike<PooledClient>;
}

/** Throws instead of emitting `error` while it has no `error` listener. */
interface PooledClient extends PostgresClient {
  /** With an error the pool closes the connection. */
  release(error?: unknown): void;
  on(event: 'error', listener: () => void): unknown;
  removeListener(event: 'error', listener: () => void): unknown;
}

/** A command for `pg`. */
export interface PostgresCommand {
  text: string;
  values: unknown[];
  /** Timeout in milliseconds, including the time in the client's own queue. */
  query_timeout?: number;
}

/** The used part of a result of `pg`. */
export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
}

/** Read once per statement: clock_timestamp() advances within a statement, and now() is fixed within a transaction. */
const CLOCK = 'WITH clock AS (SELECT clock_timestamp() AS now)';
const NOW = '(SELECT clock.now FROM clock)';

/** Each statement runs outside of a transaction block, so it is a transaction of its own. */
export const POSTGRES: SqlDialect = {
  quoted: (identifier) => `"${identifier}"`,
  now: NOW,
  micros: `floor(extract(epoch FROM ${NOW}) * 1000000)::bigint`,
  waited: '(extract(epoch FROM (clock_timestamp() - statement_timestamp())) * 1000)',
  plus: (instant, ms) => `(${instant} + ${ms}::double precision * interval '1 millisecond')`,
  between: (from, to) => `(extract(epoch FROM (${to} - ${from})) * 1000)`,
  isFinite: (instant) => `isfinite(${instant})`,
  greater: (a, b) => `greatest(${a}, ${b})`,
  beginsWith: (text, prefix) => `left(${text}, char_length(${prefix}::text)) = ${prefix}::text`,
  returned: (column) => column,
  whole: (column) => column,
  long: (parameter) => parameter,
  generateId: (expression) => expression,
  row: insertedRow,
  rows: (columns, count) =>
    valuesRelation(columns, count, (parameter, type) => `${parameter}::${TYPES[type]}`),
  // The order of the locks is that of the subquery, which other sessions' inserts keep to as well.
  updateEach: (table, assignments, rows, condition) => `UPDATE ${table} SET ${assignments} FROM (
    SELECT given.* FROM ${rows} JOIN ${table} AS locked ON locked.name = given_name
    ORDER BY locked.name COLLATE "C" FOR UPDATE OF locked) AS given
    WHERE name = given_name AND ${condition} RETURNING name`,
  updateReturnsNames: true,
  orUpdate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
  written: () => 'written',
  deleteEach: (table, gone) =>
    `DELETE FROM ${table} AS v USING (${gone}) AS gone WHERE v.name = gone_name AND v.version = gone_version`,
  deleteBoth: (table, other) =>
    `WITH others AS (DELETE FROM ${other} WHERE name = :name) DELETE FROM ${table} WHERE name = :name`,
  text: (expression) => expression,
  firstLine: (expression) => `split_part(${expression}, chr(10), 1)`,
  bytes: (column) => `octet_length(${column})`,
  stored: (table, column) => `${table.split('.').at(-1)}.${column}`,
  incoming: (column) => `excluded.${column}`,
  assignsInTurn: false,
};

const TYPES: Readonly<Record<GivenType, string>> = {
  key: 'text',
  text: 'text',
  long: 'text',
  whole: 'bigint',
  number: 'double precision',
};

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES = {
  undefinedTable: '42P01',
  undefinedColumn: '42703',
  insufficientPrivilege: '42501',
  /** CREATE TABLE IF NOT EXISTS checks first and creates then: one of two concurrent sessions gets any of these. */
  present: ['42P07', '42710', '23505'],
  /** A serialization failure (only if the default isolation level is above READ COMMITTED), and a deadlock. */
  contention: ['40001', '40P01'],
  /** Classes of data exceptions, and of exceeded limits. */
  values: ['22', '54'],
} as const;

/** @param timeoutMs how long the client waits for an answer. */
export class PostgresSql implements SqlClient {
  readonly isBatchOneCommand = true;
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
    return { matched: Number((await this.#send(sql, parameters, endAt)).rowCount), generatedId: 0 };
  }

  /** One statement, whose parts see the tables as they were before it. */
  async batch(
    { write, then, answer }: SqlBatch,
    parameters: SqlParameters,
    endAt?: number,
  ): Promise<readonly SqlRow[]> {
    const parts = [
      ...(write === undefined ? [] : [`written AS (${write} RETURNING name, version, written_at, payload)`]),
      ...then.map((sql, i) => `then_${i} AS (${sql})`),
    ];
    return this.query(`${CLOCK}, ${parts.join(', ')} ${answer}`, parameters, endAt);
  }

  async hasReturning(): Promise<boolean> {
    return true;
  }

  isTableMissing(error: unknown): boolean {
    return propertyOf(error, 'code') === CODES.undefinedTable;
  }

  isDenied(error: unknown): boolean {
    return propertyOf(error, 'code') === CODES.insufficientPrivilege;
  }

  isColumnMissing(error: unknown): boolean {
    return propertyOf(error, 'code') === CODES.undefinedColumn;
  }

  isTablePresent(error: unknown): boolean {
    return CODES.present.some((code) => code === propertyOf(error, 'code'));
  }

  isContention(error: unknown): boolean {
    return CODES.contention.some((code) => code === propertyOf(error, 'code'));
  }

  isOfValues(error: unknown): boolean {
    return CODES.values.some((begin) => String(propertyOf(error, 'code')).startsWith(begin));
  }

  async #send(
    sql: string,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<PostgresResult> {
    const statement =
      this.#statements.get(sql) ??
      withNumbers(!sql.startsWith(CLOCK) && sql.includes(NOW) ? `${CLOCK} ${sql}` : sql);
    if (sql.length <= LONGEST_KEPT) this.#statements.set(sql, statement);
    const { text } = statement;
    const command = { text, values: statement.values(parameters), query_timeout: this.#timeoutMs };
    if (isPool(this.#client)) return onConnection(this.#client, command, endAt);
    throwIfLate(endAt);
    // A busy client removes the command from its queue at this timeout, if it was not sent yet.
    const left = Math.min(this.#timeoutMs, Math.ceil(endAt - systemClock.monotonic()));
    return this.#client.query({ ...command, query_timeout: Math.max(1, left) });
  }
}

function isPool(client: PostgresClient): client is Pool {
  return typeof client.totalCount === 'number' && typeof client.connect === 'function';
}

/** As the `query` method of the pool, except that a command past its deadline is not sent. */
async function onConnection(pool: Pool, command: PostgresCommand, endAt: number): Promise<PostgresResult> {
  const connection = await pool.connect();
  try {
    throwIfLate(endAt);
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
