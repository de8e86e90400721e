import { systemClock } from '../clock.ts';
import {
  type Positional,
  propertyOf,
  questioned,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
} from './client.ts';
import type { SqlDialect } from './dialect.ts';

/**
 * What is needed of a client of MySQL or MariaDB: a pool or a connection of the package `mysql2`, version 3; either of
 * `mysql2/promise`, or one with callbacks (its `promise()` is used). A pool is best: a connection that broke, or on
 * which a command got no answer, is replaced.
 */
export interface MysqlClient {
  /** Resolves with the result first, or takes a callback; then there is `promise`. */
  query(command: MysqlCommand): unknown;
  /** What clients with callbacks have: the same client with promises. */
  promise?(): unknown;
}

/** A command as `mysql2` takes it. */
export interface MysqlCommand {
  sql: string;
  values: unknown[];
  /** In milliseconds. */
  timeout: number;
  rowsAsArray: false;
}

/** A client with promises. Pools have `getConnection`. */
interface PromiseClient {
  query(command: MysqlCommand): PromiseLike<readonly [unknown, ...unknown[]]>;
  getConnection?(): PromiseLike<PromiseConnection>;
}

interface PromiseConnection extends PromiseClient {
  release(): void;
  destroy(): void;
}

/** What an OK packet says. */
interface ResultHeader {
  readonly affectedRows?: number | string;
  readonly insertId?: number | string;
  readonly info?: string;
}

export const MYSQL: SqlDialect = {
  quoted: (identifier) => `\`${identifier}\``,
  now: 'UTC_TIMESTAMP(6)', // one instant per statement
  micros: `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`,
  plus: (instant, ms) => `(${instant} + INTERVAL ROUND(${ms} * 1000) MICROSECOND)`,
  between: (from, to) => `(TIMESTAMPDIFF(MICROSECOND, ${from}, ${to}) / 1000)`,
  greater: (a, b) => `GREATEST(${a}, ${b})`,
  beginsWith: (text, prefix) => `LEFT(${text}, CHAR_LENGTH(${prefix})) = ${prefix}`,
  told: (expression) => `LAST_INSERT_ID(${expression})`,
  // The function VALUES() is deprecated in MySQL, and what replaces it is not known to MariaDB. Both take this.
  row: (values) => {
    const columns = Object.keys(values);
    const incoming = Object.entries(values).map(([column, value]) => `${value} AS new_${column}`);
    const named = columns.map((column) => `new_${column}`);
    return `(${columns.join(', ')}) SELECT ${named.join(', ')} FROM (SELECT ${incoming.join(', ')}) AS incoming`;
  },
  orUpdate: 'ON DUPLICATE KEY UPDATE',
  held: (_, column) => column,
  incoming: (column) => `incoming.new_${column}`,
  assignsInTurn: true,
};

/**
 * How texts are compared: byte by byte, trailing spaces included. The two products call it by different names; each
 * takes what stands in the comments of the other for a comment. MySQL has it since 8.0.17.
 */
export const MYSQL_TEXT =
  'CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin */ /*M! utf8mb4_nopad_bin */';

const NO_SUCH_TABLE = 1146;
/** Both only where others change the same row: a deadlock, and "record has changed" of MariaDB 11. */
const CONTENTION = [1213, 1020];

/** @param timeoutMs how long the client waits for an answer. */
export class MysqlSql implements SqlClient {
  readonly #client: PromiseClient;
  readonly #timeoutMs: number;
  readonly #statements: Map<string, Positional> = new Map();
  #hasReturning: boolean | undefined;

  /** @param hasReturning @default what the version of the server says */
  constructor(client: MysqlClient, timeoutMs: number, hasReturning?: boolean) {
    this.#client = (typeof client.promise === 'function' ? client.promise() : client) as PromiseClient;
    this.#timeoutMs = Math.ceil(timeoutMs);
    this.#hasReturning = hasReturning;
  }

  async query(sql: string, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    const result = await this.#send(sql, parameters);
    return Array.isArray(result) ? result : [];
  }

  async change(sql: string, parameters: SqlParameters): Promise<{ matched: number; told: number }> {
    const { affectedRows = 0, insertId = 0, info = '' } = (await this.#send(sql, parameters)) as ResultHeader;
    // Clients without the flag FOUND_ROWS are told in affectedRows only what has changed.
    const found = Number(/Rows matched: (\d+)/.exec(info)?.[1] ?? 0);
    return { matched: Math.max(Number(affectedRows), found), told: Number(insertId) };
  }

  async hasReturning(): Promise<boolean> {
    if (this.#hasReturning === undefined) {
      const [row] = await this.query('SELECT VERSION() AS version', {});
      this.#hasReturning = returnsRows(String(row?.version));
    }
    return this.#hasReturning;
  }

  isTableMissing(error: unknown): boolean {
    return propertyOf(error, 'errno') === NO_SUCH_TABLE;
  }

  isTablePresent(): boolean {
    return false; // the server locks the name before it looks
  }

  isContention(error: unknown): boolean {
    return CONTENTION.some((errno) => errno === propertyOf(error, 'errno'));
  }

  async #send(sql: string, parameters: SqlParameters): Promise<unknown> {
    const statement = this.#statements.get(sql) ?? questioned(sql);
    this.#statements.set(sql, statement);
    const command: MysqlCommand = {
      sql: statement.text,
      values: statement.values(parameters),
      timeout: this.#timeoutMs,
      rowsAsArray: false,
    };
    const [result] = await this.#onConnection((client) => client.query(command));
    return result;
  }

  /**
   * The query method of a pool would keep a connection on which an answer is missing, and use it again only when that
   * has come: after ten of them the pool would be out of connections for as long as TCP waits.
   */
  async #onConnection<R>(send: (client: PromiseClient) => PromiseLike<R>): Promise<R> {
    if (typeof this.#client.getConnection !== 'function') return send(this.#client);
    const begunAt = systemClock.monotonic();
    const connection = await this.#client.getConnection();
    if (systemClock.monotonic() - begunAt >= this.#timeoutMs) {
      connection.release();
      throw new Error(`the pool had no connection for ${this.#timeoutMs} ms`); // nobody waits for the answer any more
    }
    try {
      const result = await send(connection);
      connection.release();
      return result;
    } catch (error) {
      const isBroken =
        propertyOf(error, 'fatal') || propertyOf(error, 'code') === 'PROTOCOL_SEQUENCE_TIMEOUT';
      if (isBroken) connection.destroy();
      else connection.release();
      throw error;
    }
  }
}

/** INSERT … RETURNING: MariaDB from 10.5; MySQL has none. */
function returnsRows(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+-MariaDB/i.exec(version) ?? [];
  return Number(major) > 10 || (Number(major) === 10 && Number(minor) >= 5);
}
