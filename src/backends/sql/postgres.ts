import {
  isPgPool,
  onPgConnection,
  type PostgresClient,
  type PostgresCommand,
  type PostgresResult,
} from '../../drivers/pg.ts';
import { systemClock } from '../../time/clock.ts';
import {
  LONGEST_KEPT,
  type Positional,
  propertyOf,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  throwIfLate,
  withNumbers,
} from './client.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES = {
  undefinedTable: '42P01',
  /** No right to change the table, and a server or a session that is read-only. */
  denied: ['42501', '25006'],
  /** CREATE TABLE IF NOT EXISTS checks first and creates then: one of two concurrent sessions gets any of these. */
  present: ['42P07', '42710', '23505'],
  /** A serialization failure (only if the isolation level is above READ COMMITTED), a deadlock, and `lock_timeout`. */
  contention: ['40001', '40P01', '55P03'],
  serialization: '40001',
  readOnly: '25006',
  /** Classes of data exceptions, and of exceeded limits. */
  values: ['22', '54'],
  /**
   * Classes of errors of a statement, after which the connection is as before; and a statement that was cancelled. Any other one
   * may say that this is not, or no longer, the server for writes.
   */
  ofStatements: ['22', '23', '40', '42', '54', '55P03', '57014'],
} as const;

const READ_ONLY =
  'the session or the server is read-only, expected the primary, and default_transaction_read_only = off';

/** Around a statement of a session whose own level is a higher one. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

/** @param timeoutMs how long the client waits for an answer. */
export class PostgresSql implements SqlClient {
  readonly #client: PostgresClient;
  readonly #timeoutMs: number;
  readonly #statements: Map<string, Positional> = new Map();
  /** By default it is the level of the session: READ COMMITTED, unless a serialization has failed. */
  #namesIsolation = false;

  constructor(client: PostgresClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = Math.ceil(timeoutMs);
  }

  async query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]> {
    return (await this.#send(sql, parameters, endAt)).rows as SqlRow[];
  }

  async change(sql: string, parameters: SqlParameters, endAt?: number): Promise<number> {
    return Number((await this.#send(sql, parameters, endAt)).rowCount);
  }

  isTableMissing(error: unknown): boolean {
    return propertyOf(error, 'code') === CODES.undefinedTable;
  }

  isTablePresent(error: unknown): boolean {
    return CODES.present.some((code) => code === propertyOf(error, 'code'));
  }

  /** The user may read, at most. */
  isDenied(error: unknown): boolean {
    return CODES.denied.some((code) => code === propertyOf(error, 'code'));
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
    const statement = this.#statements.get(sql) ?? withNumbers(sql);
    if (sql.length <= LONGEST_KEPT) this.#statements.set(sql, statement);
    const { text } = statement;
    const command = { text, values: statement.values(parameters), query_timeout: this.#timeoutMs };
    const ready = (): void => throwIfLate(endAt);
    if (isPgPool(this.#client))
      return onPgConnection(this.#client, ready, (one) => this.#on(one, command), isUsable);
    ready();
    // A busy client removes the command from its queue at this timeout, if it was not sent yet.
    const left = Math.min(this.#timeoutMs, Math.ceil(endAt - systemClock.monotonic()));
    return explained(this.#client.query({ ...command, query_timeout: Math.max(1, left) }));
  }

  /**
   * On a connection of its own. A session may have a default level at which concurrent statements fail each other: from the first such
   * failure on each has a transaction that names its level, which is two commands more.
   */
  async #on(connection: PostgresClient, command: PostgresCommand): Promise<PostgresResult> {
    if (!this.#namesIsolation) {
      try {
        return await explained(connection.query(command));
      } catch (error) {
        this.#namesIsolation = propertyOf(error, 'code') === CODES.serialization;
        throw error; // it is retried
      }
    }
    const around = { values: [], query_timeout: this.#timeoutMs };
    const send = (text: string): PromiseLike<unknown> => connection.query({ text, ...around });
    await send(BEGIN);
    try {
      const result = await explained(connection.query(command));
      await send(COMMIT);
      return result;
    } catch (error) {
      if (isUsable(error)) await send(ROLLBACK);
      throw error;
    }
  }
}

/** The error of a statement, with the line to change where the session is at fault. */
async function explained(result: PromiseLike<PostgresResult>): Promise<PostgresResult> {
  try {
    return await result;
  } catch (error) {
    if (propertyOf(error, 'code') === CODES.readOnly && error instanceof Error)
      error.message += ` (${READ_ONLY})`;
    throw error;
  }
}

/** The connection is as before. */
function isUsable(error: unknown): boolean {
  const code = String(propertyOf(error, 'code'));
  return CODES.ofStatements.some((begin) => code.startsWith(begin));
}
