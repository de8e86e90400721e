import {
  isMysql2Pool,
  type Mysql2Client,
  onMysql2Connection,
  queryMysql2,
  withPromises,
} from '../../drivers/mysql2.ts';
import { systemClock } from '../../time/clock.ts';
import { propertyOf, type SqlClient, type SqlParameters, type SqlRow, throwIfLate } from './client.ts';
import {
  explained,
  isBroken,
  isContention,
  isOfValues,
  NO_SUCH_TABLE,
  PARSE_ERROR,
  throwWithoutAutocommit,
} from './mysql-errors.ts';
import { withLiterals } from './mysql-literals.ts';

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
interface MysqlField {
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

/** Settings of the session that would refuse an UPDATE by a join, or cut off rows. */
const SETTINGS = ['sql_safe_updates = 0', 'sql_select_limit = 18446744073709551615'] as const;

/** The same for one statement: MariaDB has a clause before it, MySQL a hint behind its verb, and each ignores the other one. */
const CLAUSE = `SET STATEMENT ${SETTINGS.join(', ')} FOR`;
const HINT = `/*+ ${SETTINGS.map((setting) => `SET_VAR(${setting})`).join(' ')} */`;

/** Of the next transaction, whatever the session has: below it a read sees what is never committed. */
const ISOLATION = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ';

/** Whatever `completion_type` is. */
const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE';

/** The beginning of a block of MariaDB that undoes all if one of its statements fails. */
const BLOCK = `${CLAUSE} BEGIN NOT ATOMIC DECLARE matched INT; DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; ${ISOLATION};`;

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
    const result = await this.#send(withLiterals(withSettings(sql), parameters), endAt);
    return Array.isArray(result) ? result : [];
  }

  async change(sql: string, parameters: SqlParameters, endAt?: number): Promise<number> {
    return matchedIn(await this.#send(withLiterals(withSettings(sql), parameters), endAt));
  }

  /**
   * Changes rows, or none, then reads some, by statements without parameters. In MariaDB it is one command, a block of statements. MySQL has no such blocks
   * outside of procedures: there the statements are queued at once, so that others on the same connection can't come between them.
   * `isWhole`: in a transaction; without blocks the statements after a failed one are still sent, and apart from it if the server has
   * undone all, as in a deadlock. Else the change is done before the answer begins, so that an answer which is cut off does not undo it.
   *
   * @returns the rows that were read; and where other sessions may have come between, how many rows the first change has matched.
   */
  async batch(
    { changes, answer, isWhole }: MysqlBatch,
    endAt: number = systemClock.monotonic() + this.#timeoutMs,
  ): Promise<{ readonly rows: readonly SqlRow[]; readonly matched?: number }> {
    const steps = [...changes, answer];
    const whole = ['START TRANSACTION', ...steps, COMMIT];
    if (this.#hasBlocks) {
      try {
        const counted = `SET matched = ROW_COUNT(); ${ISOLATION}; SELECT found.*, matched FROM (${answer}) AS found`;
        const apart = changes.length === 0 ? steps : [...changes, counted];
        const block = isWhole ? whole : apart;
        const [rows] = (await this.#send(`${BLOCK} ${block.join('; ')}; END`, endAt)) as [SqlRow[]];
        return isWhole ? { rows } : { rows, matched: Number(rows[0]?.matched ?? 0) };
      } catch (error) {
        if (propertyOf(error, 'errno') !== PARSE_ERROR) throw error;
        this.#hasBlocks = false; // MySQL; or sql_mode=ORACLE, which has another syntax
      }
    }
    const queued = isWhole ? [ISOLATION, ...whole] : steps;
    const commands = queued.map((sql) => this.#command(withSettings(sql)));
    const replies = await this.#onConnection(endAt, async (client) => {
      const ends = await Promise.allSettled(commands.map((command) => queryMysql2(client, command)));
      const failed = ends.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw explained((failed as PromiseRejectedResult).reason);
      const results = ends.map((end) => (end as PromiseFulfilledResult<unknown>).value);
      throwWithoutAutocommit(results[0]);
      return results;
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
    return isContention(error);
  }

  isOfValues(error: unknown): boolean {
    return isOfValues(error);
  }

  async #send(sql: string, endAt: number = systemClock.monotonic() + this.#timeoutMs): Promise<unknown> {
    const command = this.#command(sql);
    return this.#onConnection(endAt, async (client) => {
      const result = await queryMysql2(client, command).catch((error) => {
        throw explained(error);
      });
      throwWithoutAutocommit(result);
      return result;
    });
  }

  #command(sql: string): MysqlCommand {
    return {
      sql,
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

/** A statement that depends on none of these settings of the session. */
function withSettings(sql: string): string {
  return sql.replace(/^\s*(SELECT|INSERT|UPDATE|DELETE)\b/, `/*M! ${CLAUSE} */ $1 ${HINT}`);
}

function textOf(field: MysqlField): string | null {
  const bytes = field.buffer();
  return bytes === null ? null : bytes.toString();
}
