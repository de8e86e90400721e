import { systemClock } from '../time/clock.ts';
import {
  changesOf,
  PARAMETER,
  parameterOf,
  propertyOf,
  type SqlBatch,
  type SqlChange,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  type SqlValue,
  throwIfLate,
} from './client.ts';
import type { GivenType, SqlDialect } from './dialect.ts';
import { parameterRows } from './given.ts';

/**
 * The used part of a MySQL or MariaDB client: a pool or a connection of the package `mysql2`, version 3, either from
 * `mysql2/promise` or with callbacks (the adapter uses its `promise()`). Prefer a pool: it replaces a connection that
 * broke, or on which a command got no reply.
 */
export interface MysqlClient {
  /** Resolves with the result as its first element, or takes a callback; clients with callbacks have `promise`. */
  query(command: MysqlCommand): unknown;
  /** Returns the same client with promises; only clients with callbacks have it. */
  promise?(): unknown;
}

/** A command for `mysql2`. The client escapes and converts nothing, whatever its options are. */
export interface MysqlCommand {
  /** ASCII only. */
  sql: string;
  /** Always empty. */
  values: unknown[];
  /** Timeout of the command in milliseconds. */
  timeout: number;
  rowsAsArray: false;
  nestTables: false;
  typeCast(field: MysqlField): string | null;
}

/** The used part of a column of a row, as `mysql2` passes it. */
export interface MysqlField {
  /** The bytes from the server; their text is UTF-8. */
  buffer(): { toString(): string } | null;
}

/** A client with promises. Only pools have `getConnection`. */
interface PromiseClient {
  query(command: MysqlCommand): PromiseLike<readonly [unknown, ...unknown[]]>;
  getConnection?(): PromiseLike<PromiseConnection>;
}

interface PromiseConnection extends PromiseClient {
  release(): void;
  destroy(): void;
}

/** The used part of an OK packet. */
interface ResultHeader {
  readonly affectedRows?: number | string;
  readonly insertId?: number | string;
  readonly info?: string;
}

export const MYSQL: SqlDialect = {
  quoted: (identifier) => `\`${identifier}\``,
  now: 'UTC_TIMESTAMP(6)', // one instant per statement
  micros: `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`,
  waited: '(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)) / 1000)', // SYSDATE advances within a statement
  plus: (instant, ms) => `(${instant} + INTERVAL ROUND(${ms} * 1000) MICROSECOND)`,
  between: (from, to) => `(TIMESTAMPDIFF(MICROSECOND, ${from}, ${to}) / 1000)`,
  isFinite: () => 'TRUE',
  greater: (a, b) => `GREATEST(${a}, ${b})`,
  beginsWith: (text, prefix) => `LEFT(${text}, CHAR_LENGTH(${prefix})) = ${prefix}`,
  returned: (column) => `CAST(${column} AS BINARY) AS ${column}`, // else in the charset of the connection
  whole: (column) => column,
  long: (parameter) => `${BASE64}${parameter})`,
  generateId: (expression) => `LAST_INSERT_ID(${expression})`,
  // MySQL deprecates the function VALUES(), and MariaDB does not know its replacement. Both accept this form.
  row: (values, rows) => {
    const columns = Object.keys(values);
    const incoming = Object.entries(values).map(([column, value]) => `${value} AS new_${column}`);
    const named = columns.map((column) => `new_${column}`);
    const from = rows === undefined ? '' : ` FROM ${rows}`;
    return `(${columns.join(', ')}) SELECT ${named.join(', ')} FROM (SELECT ${incoming.join(', ')}${from}) AS incoming`;
  },
  // The two products write VALUES with several rows differently; both accept this form.
  rows: (columns, count) => {
    const rows = parameterRows(columns, count, literalOf);
    const named = Object.keys(columns).map((column, i) => `${rows[0]?.[i]} AS given_${column}`);
    const others = rows.slice(1).map((row) => ` UNION ALL SELECT ${row.join(', ')}`);
    return `(SELECT ${named.join(', ')}${others.join('')}) AS given`;
  },
  // Finds the rows by their names one after the other, in the order of the given ones.
  updateEach: (table, assignments, rows, condition) =>
    `UPDATE ${rows} JOIN ${table} ON name = given_name SET ${assignments} WHERE ${condition}`,
  updateReturnsNames: false,
  orUpdate: () => 'ON DUPLICATE KEY UPDATE',
  written: (table) => table,
  // DISTINCT has the rows looked up before any is deleted.
  deleteEach: (table, gone) =>
    `DELETE v FROM ${table} AS v JOIN (${gone}) AS gone ON v.name = gone_name AND v.version = gone_version`,
  deleteBoth: (table, other) =>
    `DELETE m, v FROM ${table} AS m LEFT JOIN ${other} AS v ON v.name = m.name WHERE m.name = :name`,
  text: (expression) => `CAST(${expression} AS BINARY)`,
  firstLine: (expression) => `SUBSTRING_INDEX(${expression}, '\n', 1)`, // a line break in the statement: no escape
  bytes: (column) => `LENGTH(${column})`,
  stored: (_, column) => column,
  incoming: (column) => `incoming.new_${column}`,
  assignsInTurn: true,
};

/**
 * A collation that compares texts byte by byte, trailing spaces included. The two products name it differently; each
 * ignores the comment of the other. MySQL has it since 8.0.17.
 */
const COLLATION = 'COLLATE /*!80017 utf8mb4_0900_bin */ /*M! utf8mb4_nopad_bin */';
export const MYSQL_TEXT: string = `CHARACTER SET utf8mb4 ${COLLATION}`;

/** A key has the collation of the columns, so that the index serves the comparison. */
function literalOf(parameter: string, type: GivenType): string {
  if (type === 'long') return MYSQL.long(parameter);
  return type === 'key' ? `${parameter} ${COLLATION}` : parameter;
}

/** Marks a parameter to be written in base64, a third longer than its bytes; hexadecimal would take twice its bytes. */
const BASE64 = 'FROM_BASE64(';
const PLACE = new RegExp(`(FROM_BASE64\\()?${PARAMETER.source}`, PARAMETER.flags);

/** The beginning of a block of MariaDB that undoes all if one of its statements fails. */
const BLOCK = 'BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;';

const PARSE_ERROR = 1064;
const NO_SUCH_TABLE = 1146;
const BAD_FIELD = 1054;
/** The server also returns it for a table that is missing. */
const TABLE_ACCESS_DENIED = 1142;
/** The server closes the connection after this error. */
const PACKET_TOO_LARGE = 1153;
/** Errors of concurrent changes of one row: a deadlock, and "record has changed" of MariaDB 11. */
const CONTENTION = [1213, 1020];
/** Errors of values: out of range, invalid, too long, and a statement that is too large. */
const OF_VALUES = [1264, 1366, 1406, PACKET_TOO_LARGE];

/**
 * Writes texts into the statement as hexadecimal digits with their charset, or as base64. Escaping would depend on
 * `sql_mode` (the meaning of quotes and backslashes), which the client does not know, and on the charset of the
 * connection. Prepared statements would need an extra command on each connection.
 *
 * @param timeoutMs how long the client waits for an answer.
 */
export class MysqlSql implements SqlClient {
  readonly #client: PromiseClient;
  readonly #timeoutMs: number;
  #hasReturning: boolean | undefined;
  #hasBlocks = true;

  /** @param hasReturning @default derived from the version of the server */
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
    // Clients without the flag FOUND_ROWS receive only changed rows in affectedRows. In any language, the first number
    // of `info` is that of the rows that an UPDATE matched.
    const found = Number(/\d+/.exec(info)?.[0] ?? 0);
    return { matched: Math.max(Number(affectedRows), found), generatedId: Number(insertId) };
  }

  /**
   * MariaDB runs a block of statements as one command. MySQL has no such blocks outside of procedures: there the
   * statements of the transaction are queued at once, so that others on the same connection can't come between them.
   * If one of them fails, those before it may have taken effect; repeating the batch completes it. A single change needs no
   * transaction.
   */
  async batch(
    { write, then, answer }: SqlBatch,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<readonly SqlRow[]> {
    const changes = changesOf({ write, then });
    const steps = [...changes, answer];
    if (changes.length > 1) steps.splice(0, steps.length, 'START TRANSACTION', ...steps, 'COMMIT');
    if (this.#hasBlocks && (await this.hasReturning(endAt))) {
      try {
        return ((await this.#send(`${BLOCK} ${steps.join('; ')}; END`, parameters, endAt)) as [SqlRow[]])[0];
      } catch (error) {
        if (propertyOf(error, 'errno') !== PARSE_ERROR) throw error;
        this.#hasBlocks = false; // sql_mode=ORACLE has another syntax
      }
    }
    const commands = steps.map((sql) => this.#command(sql, parameters));
    const replies = await this.#onConnection(endAt, async (client) => {
      const ends = await Promise.allSettled(commands.map((command) => client.query(command)));
      const failed = ends.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
      return ends.map((end) => (end as PromiseFulfilledResult<readonly [unknown]>).value[0]);
    });
    return replies[steps.indexOf(answer)] as SqlRow[];
  }

  get isBatchOneCommand(): boolean | undefined {
    return this.#hasBlocks && this.#hasReturning;
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

  isDenied(error: unknown): boolean {
    return propertyOf(error, 'errno') === TABLE_ACCESS_DENIED;
  }

  isColumnMissing(error: unknown): boolean {
    return propertyOf(error, 'errno') === BAD_FIELD;
  }

  isTablePresent(): boolean {
    return false; // the server locks the name before it checks
  }

  isContention(error: unknown): boolean {
    return CONTENTION.some((errno) => errno === propertyOf(error, 'errno'));
  }

  isOfValues(error: unknown): boolean {
    return OF_VALUES.some((errno) => errno === propertyOf(error, 'errno'));
  }

  async #send(
    sql: string,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<unknown> {
    const command = this.#command(sql, parameters);
    const [result] = await this.#onConnection(endAt, (client) => client.query(command));
    return result;
  }

  #command(sql: string, parameters: SqlParameters): MysqlCommand {
    return {
      sql: withLiterals(sql, parameters),
      values: [],
      timeout: this.#timeoutMs,
      rowsAsArray: false,
      nestTables: false,
      typeCast: textOf,
    };
  }

  /**
   * The `query` method of a pool keeps a connection that waits for a reply, and reuses it only after the reply: ten such
   * connections would exhaust the pool for as long as TCP waits.
   */
  async #onConnection<R>(endAt: number, send: (client: PromiseClient) => PromiseLike<R>): Promise<R> {
    if (typeof this.#client.getConnection !== 'function') {
      throwIfLate(endAt);
      return send(this.#client);
    }
    const connection = await this.#client.getConnection();
    try {
      throwIfLate(endAt);
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

/** Whether a connection is unusable after an error, or soon will be. */
function isBroken(error: unknown): boolean {
  if (propertyOf(error, 'fatal') || propertyOf(error, 'errno') === PACKET_TOO_LARGE) return true;
  return propertyOf(error, 'code') === 'PROTOCOL_SEQUENCE_TIMEOUT';
}

function textOf(field: MysqlField): string | null {
  const bytes = field.buffer();
  return bytes === null ? null : bytes.toString();
}

/** A statement with its parameters written in. */
function withLiterals(sql: string, parameters: SqlParameters): string {
  return sql.replace(PLACE, (_, before: string = '', name: string) => {
    const value = parameterOf(parameters, name);
    return before + (before === BASE64 ? base64(String(value)) : literal(value));
  });
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `_utf8mb4 X'${hex(value)}'`;
  if (!Number.isFinite(value)) throw new TypeError(`SQL parameter is ${value}, expected a finite number`);
  return String(value);
}

function hex(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'));
  return digits.join('');
}

/** An empty text is `X''`: in the mode EMPTY_STRING_IS_NULL `''` means NULL. */
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

/** Bytes per call. A multiple of three, so that only the last slice is padded. */
const SLICE = 0x6000;

/** MariaDB supports INSERT … RETURNING from 10.5 on; MySQL does not. */
function returnsRows(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+-MariaDB/i.exec(version) ?? [];
  return Number(major) > 10 || (Number(major) === 10 && Number(minor) >= 5);
}
