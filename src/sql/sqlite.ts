import {
  changesOf,
  type Positional,
  propertyOf,
  type SqlBatch,
  type SqlChange,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  withQuestionMarks,
} from './client.ts';
import type { SqlDialect } from './dialect.ts';
import { insertedRow, LONGEST_KEPT, valuesRelation } from './given.ts';

/**
 * The used part of an SQLite client: a `Database` of the package `better-sqlite3`, a `DatabaseSync` of `node:sqlite`, or
 * a compatible one. SQLite 3.35 or later.
 */
export interface SqliteClient {
  prepare(sql: string): SqliteStatement;
}

/**
 * The used part of a prepared statement. It is called with {@link SqliteValue}s. `never`: up to TypeScript 5.9 the statements
 * of better-sqlite3 have a parameter of type `{}`, which excludes null.
 */
export interface SqliteStatement {
  all(...values: never[]): unknown[];
  run(...values: never[]): { changes: number | bigint };
}

/** Value bound to a statement. */
export type SqliteValue = string | number | null;

/**
 * Instants are milliseconds since 1970, as numbers. Numbers are returned as REAL, exact up to 2^53: an INTEGER beyond that, of
 * a damaged row, would fail the statement in `node:sqlite`.
 */
const NOW = `CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)`;

export const SQLITE: SqlDialect = {
  quoted: (identifier) => `"${identifier}"`,
  now: NOW, // 'now' is one instant per statement
  micros: `(${NOW} * 1000)`,
  waited: '0', // the client waits before the statement begins
  plus: (instant, ms) => `(${instant} + ${ms})`,
  between: (from, to) => `(${to} - ${from} + 0.0)`,
  isFinite: () => 'TRUE',
  greater: (a, b) => `max(${a}, ${b})`,
  beginsWith: (text, prefix) => `substr(${text}, 1, length(${prefix})) = ${prefix}`,
  returned: (column) => column,
  whole: (column) => `(${column} + 0.0) AS ${column}`,
  long: (parameter) => parameter,
  generateId: (expression) => expression,
  row: insertedRow,
  rows: (columns, count) => valuesRelation(columns, count, (parameter) => parameter),
  updateEach: (table, assignments, rows, condition) =>
    `UPDATE ${table} SET ${assignments} FROM ${rows} WHERE name = given_name AND ${condition} RETURNING name`,
  updateReturnsNames: true,
  orUpdate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
  written: (table) => table,
  deleteEach: (table, gone) => `DELETE FROM ${table} WHERE (name, version) IN (${gone})`,
  deleteBoth: (table, other) => ({
    write: `DELETE FROM ${other} WHERE name = :name`,
    then: [`DELETE FROM ${table} WHERE name = :name`],
    answer: 'SELECT changes() AS changed',
  }),
  text: (expression) => expression,
  firstLine: (expression) => `substr(${expression}, 1, instr(${expression} || char(10), char(10)) - 1)`,
  bytes: (column) => `length(CAST(${column} AS BLOB))`,
  stored: (table, column) => `${table.split('.').at(-1)}.${column}`,
  incoming: (column) => `excluded.${column}`,
  assignsInTurn: false,
};

/** The transaction of a batch: it may be a part of one of the caller's. */
const STEP = 'tickless_step';

/** SQLITE_BUSY and SQLITE_LOCKED: another connection, or another statement of this one, has a lock. */
const CONTENTION = { codes: [5, 6], name: /^SQLITE_(BUSY|LOCKED)/ };

/** A text that is longer than a row can be. */
const TOO_BIG = { code: 18, name: 'SQLITE_TOOBIG' };

/** Prepares each statement anew: it costs microseconds, and no statement outlives a closed database. */
export class SqliteSql implements SqlClient {
  readonly isBatchOneCommand = true;
  readonly #client: SqliteClient;
  readonly #statements: Map<string, Positional> = new Map();

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  async query(sql: string, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    const { text, values } = this.#positional(sql);
    return this.#client.prepare(text).all(...(values(parameters) as never[])) as SqlRow[];
  }

  async change(sql: string, parameters: SqlParameters): Promise<SqlChange> {
    const { text, values } = this.#positional(sql);
    const { changes } = this.#client.prepare(text).run(...(values(parameters) as never[]));
    return { matched: Number(changes), generatedId: 0 };
  }

  /** Runs on the caller's stack, so that no other statement of this process comes between. */
  async batch({ write, then, answer }: SqlBatch, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    const run = (sql: string): unknown => this.#client.prepare(sql).run();
    run(`SAVEPOINT ${STEP}`);
    try {
      for (const sql of changesOf({ write, then })) {
        const { text, values } = this.#positional(sql);
        this.#client.prepare(text).run(...(values(parameters) as never[]));
      }
      const { text, values } = this.#positional(answer);
      const rows = this.#client.prepare(text).all(...(values(parameters) as never[])) as SqlRow[];
      run(`RELEASE ${STEP}`);
      return rows;
    } catch (error) {
      try {
        run(`ROLLBACK TO ${STEP}`);
        run(`RELEASE ${STEP}`);
      } catch {
        // SQLite has ended the transaction itself
      }
      throw error;
    }
  }

  async hasReturning(): Promise<boolean> {
    return true;
  }

  isTableMissing(error: unknown): boolean {
    return String(propertyOf(error, 'message')).includes('no such table: ');
  }

  isDenied(): boolean {
    return false; // it has no users
  }

  isColumnMissing(error: unknown): boolean {
    return /no such column: |has no column named /.test(String(propertyOf(error, 'message')));
  }

  isTablePresent(): boolean {
    return false; // statements run one after the other
  }

  isContention(error: unknown): boolean {
    const errcode = Number(propertyOf(error, 'errcode')); // of node:sqlite; extended codes use the upper bytes
    return (
      CONTENTION.codes.includes(errcode & 0xff) || CONTENTION.name.test(String(propertyOf(error, 'code')))
    );
  }

  isOfValues(error: unknown): boolean {
    const isTooBig = (Number(propertyOf(error, 'errcode')) & 0xff) === TOO_BIG.code;
    return isTooBig || propertyOf(error, 'code') === TOO_BIG.name;
  }

  #positional(sql: string): Positional {
    const statement = this.#statements.get(sql) ?? withQuestionMarks(sql);
    if (sql.length <= LONGEST_KEPT) this.#statements.set(sql, statement);
    return statement;
  }
}
