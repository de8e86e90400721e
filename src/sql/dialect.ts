/**
 * How a database says what the statements of locks and stores need. Instants are expressions of SQL; durations are
 * milliseconds. `now` is read once per statement: all that a statement says of it is of one instant.
 */
export interface SqlDialect {
  /** Puts an identifier into quotes. It has no quote in it: `tableName`. */
  quoted(identifier: string): string;
  /** The database's clock. */
  readonly now: string;
  /** The same as a whole number: microseconds since 1970. */
  readonly micros: string;
  /** The instant `ms` milliseconds after another; `ms` is a parameter or a number. */
  plus(instant: string, ms: string): string;
  /** How many milliseconds lie between two instants. */
  between(from: string, to: string): string;
  /** The greater of two numbers. */
  greater(a: string, b: string): string;
  /** Whether a text begins with a parameter, byte by byte. */
  beginsWith(text: string, prefix: string): string;
  /** A column of text, under its name, among what a statement returns. */
  returned(column: string): string;
  /** A parameter that is a long text. It is assigned, and compared with nothing. */
  long(parameter: string): string;
  /** A number that a statement without RETURNING tells its client, in `SqlChange.told`; else the number itself. */
  told(expression: string): string;
  /** What follows INSERT INTO and the table: columns and their values, to be named by `incoming`. */
  row(values: Readonly<Record<string, string>>): string;
  /** Stands before the assignments of an INSERT whose name is there already. */
  readonly orUpdate: string;
  /** The column of the row that is there, in such an assignment. */
  held(table: string, column: string): string;
  /** The value that was to be inserted, in such an assignment. */
  incoming(column: string): string;
  /** An assignment may see what those before it have assigned. */
  readonly assignsInTurn: boolean;
}
