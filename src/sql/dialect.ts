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
  /** A parameter that is a long text; only assigned, never compared. */
  long(parameter: string): string;
  /** Wraps a number that a statement without RETURNING returns as `SqlChange.generatedId`; elsewhere the number itself. */
  generateId(expression: string): string;
  /** Columns and values after INSERT INTO and the table, for use with `incoming`. */
  row(values: Readonly<Record<string, string>>): string;
  /** Precedes the assignments of an INSERT whose name exists already. */
  readonly orUpdate: string;
  /** A column of the stored row, in such an assignment. */
  stored(table: string, column: string): string;
  /** A value of the inserted row, in such an assignment. */
  incoming(column: string): string;
  /** An assignment may see the results of the assignments before it. */
  readonly assignsInTurn: boolean;
}
