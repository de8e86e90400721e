import { systemClock } from '../time/clock.ts';
import {
  expectTime,
  PARAMETER,
  parameterOf,
  propertyOf,
  type SqlChange,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  type SqlValue,
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

/** A command as `mysql2` takes it. Nothing is left for the client to escape or to convert, whatever its options say. */
export interface MysqlCommand {
  /** All of it is ASCII: see {@link MysqlSql}. */
  sql: string;
  /** None. */
  values: unknown[];
  /** In milliseconds. */
  timeout: number;
  rowsAsArray: false;
  nestTables: false;
  typeCast(field: MysqlField): string | null;
}

/** What is needed of a column of a row, as `mysql2` shows it. */
export interface MysqlField {
  /** As the server has sent it; its text is UTF-8. */
  buffer(): { toString(): string } | null;
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
  returned: (column) => `CAST(${column} AS BINARY) AS ${column}`, // else in the charset of the connection
  long: (parameter) => `${BASE64}${parameter})`,
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

/** A parameter behind this is written in base64: a third longer than its bytes, not twice as long as in hexadecimal. */
const BASE64 = 'FROM_BASE64(';
const PLACE = new RegExp(`(FROM_BASE64\\()?${PARAMETER.source}`, PARAMETER.flags);

const NO_SUCH_TABLE = 1146;
/** The server closes the connection then. */
const PACKET_TOO_LARGE = 1153;
/** Both only where others change the same row: a deadlock, and "record has changed" of MariaDB 11. */
const CONTENTION = [1213, 1020];

/**
 * Texts are written into the statement as hexadecimal digits, with their charset, or as base64. What a quote or a
 * backslash means depends on `sql_mode`, which the client does not know when it escapes them; what other bytes mean, on
 * the charset of the connection. Prepared statements would do too, but each connection would have to ask for each first.
 *
 * @param timeoutMs how long the client waits for an answer.
 */
export class MysqlSql implements SqlClient {
  readonly #client: PromiseClient;
  readonly #timeoutMs: number;
  #hasReturning: boolean | undefined;

  /** @param hasReturning @default what the version of the server says */
  constructor(client: MysqlClient, timeoutMs: number, hasReturning?: boolean) {
    this.#client = (typeof client.promise === 'function' ? client.promise() : client) as PromiseClient;
    this.#timeoutMs = Math.ceil(timeoutMs);
    this.#hasReturning = hasReturning;
  }

  async query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]> {
    const result = await this.#send(sql, parameters, endAt);
    return Array.isArray(result) ? result : [];
  }

  async change(sql: string, parameters: SqlParameters, endAt?: number): Promise<SqlChange> {
    const result = (await this.#send(sql, parameters, endAt)) as ResultHeader;
    const { affectedRows = 0, insertId = 0, info = '' } = result;
    // Clients without the flag FOUND_ROWS are told in affectedRows only what has changed; the first number here is that
    // of the rows that an UPDATE has found, in whichever language.
    const found = Number(/\d+/.exec(info)?.[0] ?? 0);
    return { matched: Math.max(Number(affectedRows), found), told: Number(insertId) };
  }

  async hasReturning(endAt?: number): Promise<boolean> {
    if (this.#hasReturning === undefined) {
      const [row] = await this.query('SELECT VERSION() AS version', {}, endAt);
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

  async #send(
    sql: string,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<unknown> {
    const command: MysqlCommand = {
      sql: written(sql, parameters),
      values: [],
      timeout: this.#timeoutMs,
      rowsAsArray: false,
      nestTables: false,
      typeCast: textOf,
    };
    const [result] = await this.#onConnection(endAt, (client) => client.query(command));
    return result;
  }

  /**
   * The query method of a pool would keep a connection on which an answer is missing, and use it again only when that
   * has come: after ten of them the pool would be out of connections for as long as TCP waits.
   */
  async #onConnection<R>(endAt: number, send: (client: PromiseClient) => PromiseLike<R>): Promise<R> {
    if (typeof this.#client.getConnection !== 'function') {
      expectTime(endAt);
      return send(this.#client);
    }
    const connection = await this.#client.getConnection();
    try {
      expectTime(endAt);
      const result = await send(connection);
      connection.release();
      return result;
    } catch (error) {
      if (isBroken(error)) connection.destroy();
      else connection.release();
      throw error;
    }
  }
}

/** Whether a connection is of no use after an error, or soon won't be. */
function isBroken(error: unknown): boolean {
  if (propertyOf(error, 'fatal') || propertyOf(error, 'errno') === PACKET_TOO_LARGE) return true;
  return propertyOf(error, 'code') === 'PROTOCOL_SEQUENCE_TIMEOUT';
}

function textOf(field: MysqlField): string | null {
  const bytes = field.buffer();
  return bytes === null ? null : bytes.toString();
}

/** A statement with its parameters in their places. */
function written(sql: string, parameters: SqlParameters): string {
  return sql.replace(PLACE, (_, before: string = '', name: string) => {
    const value = parameterOf(parameters, name);
    return before + (before === BASE64 ? base64(String(value)) : literal(value));
  });
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `_utf8mb4 X'${hex(value)}'`;
  if (!Number.isFinite(value)) throw new TypeError(`${value} is no number for a statement`);
  return String(value);
}

function hex(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'));
  return digits.join('');
}

/** Not `''` where it is empty: the mode EMPTY_STRING_IS_NULL takes that for NULL. */
function base64(text: string): string {
  if (text === '') return `X''`;
  const bytes = new TextEncoder().encode(text);
  let characters = '';
  for (let i = 0; i < bytes.length; i += SLICE) {
    const slice: ArrayLike<number> = bytes.subarray(i, i + SLICE);
    characters += btoa(String.fromCharCode.apply(null, slice as number[])); // spreading is three times slower
  }
  return `'${characters}'`;
}

/** So many bytes at a time, which fit into a call. A multiple of three: no slice but the last is padded. */
const SLICE = 0x6000;

/** INSERT … RETURNING: MariaDB from 10.5; MySQL has none. */
function returnsRows(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+-MariaDB/i.exec(version) ?? [];
  return Number(major) > 10 || (Number(major) === 10 && Number(minor) >= 5);
}
