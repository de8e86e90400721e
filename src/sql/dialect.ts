import type { SqlBatch } from './client.ts';

/**
 * Use of a parameter in rows. `key`: a text that is compared with a column; `text`: one that is only assigned, as is `long`;
 * `whole` and `number`: a number without or with a fraction.
 */
export type GivenType = 'key' | 'text' | 'long' | 'whole' | 'number';

/**
 * SQL expressions of one database for the statements of locks and stores. Instants are SQL expressions; durations are
 * milliseconds. `now` is one instant per statement.
 */
export interface SqlDialect {
  /** Quotes an identifier without quotes in it, as `tableName` ensures. */
  quoted(identifier: string): string;
  /** The database's clock. */
  readonly now: string;
  /** The database's clock as a whole number: microseconds since 1970. */
  readonly micros: string;
  /** Milliseconds that the statement has waited by now for a row that another session holds. Where it is not 0 it grows. */
  readonly waited: string;
  /** The instant `ms` milliseconds after another one; `ms` is a parameter or a number. */
  plus(instant: string, ms: string): string;
  /** Milliseconds between two instants. */
  between(from: string, to: string): string;
  /** Whether an instant is one of the calendar: some databases also store endless ones. */
  isFinite(instant: string): string;
  /** The greater of two numbers. */
  greater(a: string, b: string): string;
  /** Whether a text begins with a parameter, byte by byte. */
  beginsWith(text: string, prefix: string): string;
  /** A text column, under its own name, in the returned row. */
  returned(column: string): string;
  /** A column of whole numbers, under its own name, in the returned row. Of a damaged one any number can be read. */
  whole(column: string): string;
  /** A parameter that is a long text; only assigned, never compared. */
  long(parameter: string): string;
  /** Wraps a number that a statement without RETURNING returns as `SqlChange.generatedId`; elsewhere the number itself. */
  generateId(expression: string): string;
  /**
   * Columns and values after INSERT INTO and the table, for use with `incoming`.
   *
   * @param rows a row for each of these `rows`, whose columns the values may contain. @default one row
   */
  row(values: Readonly<Record<string, string>>, rows?: string): string;
  /** Rows of parameters, for use after FROM: see `givenRows`. */
  rows(columns: Readonly<Record<string, GivenType>>, count: number): string;
  /**
   * An UPDATE of all rows that have the name of one of the given `rows`, and for which the condition holds. It takes the
   * row locks in the order of the names, so that two of them can't wait for each other.
   */
  updateEach(table: string, assignments: string, rows: string, condition: string): string;
  /** `updateEach` returns the names. */
  readonly updateReturnsNames: boolean;
  /** Precedes the assignments of an INSERT whose key exists already. */
  orUpdate(key: 'name' | 'name, version'): string;
  /** The relation in which the later steps of an `SqlBatch` find the rows that its write has written to a table. */
  written(table: string): string;
  /** Deletes the rows of a table that a SELECT of `gone_name` and `gone_version` returns. */
  deleteEach(table: string, gone: string): string;
  /** Deletes the row `:name` of a table, and all rows of that name in another. A batch returns how many as `changed`. */
  deleteBoth(table: string, other: string): string | SqlBatch;
  /** A text expression in the returned row. */
  text(expression: string): string;
  /** A text up to its first line break. */
  firstLine(expression: string): string;
  /** The length of a text in bytes of UTF-8. */
  bytes(column: string): string;
  /** A column of the stored row, in such an assignment. */
  stored(table: string, column: string): string;
  /** A value of the inserted row, in such an assignment. */
  incoming(column: string): string;
  /** An assignment may see the results of the assignments before it. */
  readonly assignsInTurn: boolean;
}
