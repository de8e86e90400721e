import { isPgPool, onPgConnection, type PostgresClient, type PostgresResult } from '../../drivers/pg.ts';
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
  /** A serialization failure (only if the default isolation level is above READ COMMITTED), and a deadlock. */
  contention: ['40001', '40P01'],
  /** Classes of data exceptions, and of exceeded limits. */
  values: ['22', '54'],
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
    if (isPgPool(this.#client)) return onPgConnection(this.#client, ready, (one) => one.query(command));
    ready();
    // A busy client removes the command from its queue at this timeout, if it was not sent yet.
    const left = Math.min(this.#timeoutMs, Math.ceil(endAt - systemClock.monotonic()));
    return this.#client.query({ ...command, query_timeout: Math.max(1, left) });
  }
}
