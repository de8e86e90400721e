import {
  isMysql2Pool,
  type Mysql2Client,
  onMysql2Connection,
  queryMysql2,
  withPromises,
} from '../../drivers/mysql2.ts';
import { systemClock } from '../../time/clock.ts';
import {
  PARAMETER,
  parameterOf,
  propertyOf,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  type SqlValue,
  throwIfLate,
} from './client.ts';

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

/** The used part of an OK packet. */
interface ResultHeader {
  readonly affectedRows?: number | string;
  readonly info?: string;
}

/** Statements for one connection. */
export interface MysqlBatch {
  readonly changes: readonly string[];
  /** Returns rows. */
  readonly answer: string;
  readonly isWhole: boolean;
}

/**
 * A collation that compares texts byte by byte, trailing spaces included. The two products name it differently; each
 * ignores the comment of the other. MySQL has it since 8.0.17.
 */
export const COLLATION: string = 'COLLATE /*!80017 utf8mb4_0900_bin */ /*M! utf8mb4_nopad_bin */';
export const MYSQL_TEXT: string = `CHARACTER SET utf8mb4 ${COLLATION}`;

/** Marks a parameter to be written in base64, a third longer than its bytes; hexadecimal would take twice its bytes. */
export const BASE64 = 'FROM_BASE64(';
const PLACE = new RegExp(`(FROM_BASE64\\()?${PARAMETER.source}`, PARAMETER.flags);

/** The beginning of a block of MariaDB that undoes all if one of its statements fails. */
const BLOCK =
  'BEGIN NOT ATOMIC DECLARE matched INT; DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;';

const PARSE_ERROR = 1064;
const NO_SUCH_TABLE = 1146;
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
  #hasBlocks: boolean;

  /** @param hasBlocks @default until the server does not know them */
  constructor(client: MysqlClient, timeoutMs: number, hasBlocks: boolean = true) {
    this.#client = withPromises(client);
    this.#timeoutMs = Math.ceil(timeoutMs);
    this.#hasBlocks = hasBlocks;
  }

  async query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]> {
    const result = await this.#send(sql, parameters, endAt);
    return Array.isArray(result) ? result : [];
  }

  async change(sql: string, parameters: SqlParameters, endAt?: number): Promise<number> {
    return matchedIn(await this.#send(sql, parameters, endAt));
  }

  /**
   * Changes rows, then reads some. In MariaDB it is one command, a block of statements. MySQL has no such blocks
   * outside of procedures: there the statements are queued at once, so that others on the same connection can't come between them.
   * `isWhole`: in a transaction. Else the change is done before the answer begins, so that an answer which is cut off does not undo it.
   *
   * @returns the rows that were read; and where other sessions may have come between, how many rows the first change has matched.
   */
  async batch(
    { changes, answer, isWhole }: MysqlBatch,
    parameters: SqlParameters,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<{ readonly rows: readonly SqlRow[]; readonly matched?: number }> {
    const steps = [...changes, answer];
    const whole = ['START TRANSACTION', ...steps, 'COMMIT'];
    if (this.#hasBlocks) {
      try {
        const counted = `SET matched = ROW_COUNT(); SELECT found.*, matched FROM (${answer}) AS found`;
        const block = isWhole ? whole : [...changes, counted];
        const [rows] = (await this.#send(`${BLOCK} ${block.join('; ')}; END`, parameters, endAt)) as [
          SqlRow[],
        ];
        return isWhole ? { rows } : { rows, matched: Number(rows[0]?.matched ?? 0) };
      } catch (error) {
        if (propertyOf(error, 'errno') !== PARSE_ERROR) throw error;
        this.#hasBlocks = false; // MySQL; or sql_mode=ORACLE, which has another syntax
      }
    }
    const queued = isWhole ? whole : steps;
    const commands = queued.map((sql) => this.#command(sql, parameters));
    const replies = await this.#onConnection(endAt, async (client) => {
      const ends = await Promise.allSettled(commands.map((command) => queryMysql2(client, command)));
      const failed = ends.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
      return ends.map((end) => (end as PromiseFulfilledResult<unknown>).value);
    });
    const rows = replies[queued.indexOf(answer)] as SqlRow[];
    return isWhole ? { rows } : { rows, matched: matchedIn(replies[0]) };
  }

  isTableMissing(error: unknown): boolean {
    return propertyOf(error, 'errno') === NO_SUCH_TABLE;
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
    return this.#onConnection(endAt, (client) => queryMysql2(client, command));
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

  #onConnection<R>(endAt: number, send: (client: PromiseClient) => PromiseLike<R>): PromiseLike<R> {
    const ready = (): void => throwIfLate(endAt);
    if (isMysql2Pool(this.#client)) return onMysql2Connection(this.#client, ready, isBroken, send);
    ready();
    return send(this.#client);
  }
}

type PromiseClient = Mysql2Client<MysqlCommand>;

/**
 * The rows that a statement has matched. Clients without the flag FOUND_ROWS receive only changed rows in affectedRows. In any
 * language, the first number of `info` is that of the rows that an UPDATE matched.
 */
function matchedIn(result: unknown): number {
  const { affectedRows = 0, info = '' } = result as ResultHeader;
  return Math.max(Number(affectedRows), Number(/\d+/.exec(info)?.[0] ?? 0));
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
