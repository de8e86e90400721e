import {
  LONGEST_KEPT,
  type Positional,
  propertyOf,
  type SqlClient,
  type SqlParameters,
  type SqlRow,
  withQuestionMarks,
} from './client.ts';

/**
 * The used part of an SQLite client: a `Database` of the package `better-sqlite3`, a `DatabaseSync` of `node:sqlite`, or
 * a compatible one. SQLite 3.35 or later.
 */
export interface SqliteClient {
  prepare(sql: string): SqliteStatement;
}

/**
 * The used part of a prepared statement. It is called with texts, numbers and `null`. `never`: up to TypeScript 5.9 the statements
 * of better-sqlite3 have a parameter of type `{}`, which excludes null.
 */
export interface SqliteStatement {
  all(...values: never[]): unknown[];
  run(...values: never[]): { changes: number | bigint };
}

/** It may be a part of a transaction of the caller. */
const STEP = 'tickless_step';

/** SQLITE_BUSY and SQLITE_LOCKED: another connection, or another statement of this one, has a lock. */
const CONTENTION = { codes: [5, 6], name: /^SQLITE_(BUSY|LOCKED)/ };

/** A text that is longer than a row can be. */
const TOO_BIG = { code: 18, name: 'SQLITE_TOOBIG' };

/** Runs a statement of a transaction. @returns its rows, if it is a SELECT. */
export type SqliteRun = (sql: string, parameters?: SqlParameters) => readonly SqlRow[];

/** Prepares each statement anew: it costs microseconds, and no statement outlives a closed database. */
export class SqliteSql implements SqlClient {
  readonly #client: SqliteClient;
  readonly #statements: Map<string, Positional> = new Map();

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  async query(sql: string, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    return this.all(sql, parameters);
  }

  /** The same on the caller's stack. */
  all(sql: string, parameters: SqlParameters): readonly SqlRow[] {
    const { text, values } = this.#positional(sql);
    return this.#prepared(text).all(...(values(parameters) as never[])) as SqlRow[];
  }

  async change(sql: string, parameters: SqlParameters): Promise<number> {
    const { text, values } = this.#positional(sql);
    const { changes } = this.#prepared(text).run(...(values(parameters) as never[]));
    return Number(changes);
  }

  /** Runs on the caller's stack, so that no other statement of this process comes between. @param first takes the lock of the file. */
  transaction<R>(first: string, work: (run: SqliteRun) => R): R {
    const run: SqliteRun = (sql, parameters = {}) => {
      const { text, values } = this.#positional(sql);
      const statement = this.#prepared(text);
      if (sql.startsWith('SELECT')) return statement.all(...(values(parameters) as never[])) as SqlRow[];
      statement.run(...(values(parameters) as never[]));
      return [];
    };
    run(`SAVEPOINT ${STEP}`);
    try {
      run(first);
      const result = work(run);
      run(`RELEASE ${STEP}`);
      return result;
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

  isTableMissing(error: unknown): boolean {
    return String(propertyOf(error, 'message')).includes('no such table: ');
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

  /** A row is an object, also where a database of `node:sqlite` returns arrays. */
  #prepared(text: string): SqliteStatement {
    const statement = this.#client.prepare(text);
    (statement as { setReturnArrays?(are: boolean): void }).setReturnArrays?.(false);
    return statement;
  }

  #positional(sql: string): Positional {
    const statement = this.#statements.get(sql) ?? withQuestionMarks(sql);
    if (sql.length <= LONGEST_KEPT) this.#statements.set(sql, statement);
    return statement;
  }
}
