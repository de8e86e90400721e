import { systemClock } from '../time/clock.ts';

/** What a parameter may be. */
export type SqlValue = string | number | null;

/** The parameters of a statement, by the names that stand in it behind a colon. */
export type SqlParameters = Readonly<Record<string, SqlValue>>;

export type SqlRow = Readonly<Record<string, unknown>>;

/** What became of a statement that returns no rows. */
export interface SqlChange {
  /** How many rows its WHERE found, changed or not. */
  readonly matched: number;
  /** The last value of `SqlDialect.told`, where that tells it like this. */
  readonly told: number;
}

/**
 * A database as its client shows it: one command at the server for each call. Statements have `:name` where a
 * parameter stands. It throws whatever the client throws.
 *
 * `endAt` is when nobody waits for the answer any more, by the monotonic clock: a statement that had to wait so long for
 * a connection is not run. By default that is the client's timeout from now.
 */
export interface SqlClient {
  /** The rows that a statement returns. */
  query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]>;
  /** For statements that return no rows. */
  change(sql: string, parameters: SqlParameters, endAt?: number): Promise<SqlChange>;
  /** Whether an INSERT can return the row. Asks the server at most once, where that depends on its version. */
  hasReturning(endAt?: number): Promise<boolean>;
  /** The statement named a table that is not there. */
  isTableMissing(error: unknown): boolean;
  /** Somebody else has created the table at the same time. */
  isTablePresent(error: unknown): boolean;
  /** The statement has changed nothing because of others that run at the same time. Worth trying again at once. */
  isContention(error: unknown): boolean;
}

/** A statement as a client takes it: the text, and the names of its parameters in the order of the values. */
export interface Positional {
  readonly text: string;
  values(parameters: SqlParameters): SqlValue[];
}

/** With `$1`, `$2`, …: a name that occurs twice is sent once. */
export function numbered(sql: string): Positional {
  const names: string[] = [];
  const text = sql.replace(PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, values: (parameters) => names.map((name) => parameterOf(parameters, name)) };
}

/** With a question mark for each occurrence. */
export function questioned(sql: string): Positional {
  const names: string[] = [];
  const text = sql.replace(PARAMETER, (_, name: string) => {
    names.push(name);
    return '?';
  });
  return { text, values: (parameters) => names.map((name) => parameterOf(parameters, name)) };
}

/** Not a cast, which has two colons, nor a time of day, which has digits. Identifiers have no colon: `tableName`. */
export const PARAMETER: RegExp = /(?<!:):([a-z]\w*)/gi;

export function parameterOf(parameters: SqlParameters, name: string): SqlValue {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`no parameter :${name}`);
  return value;
}

/**
 * Before a statement is sent on a connection that it may have had to wait for.
 *
 * @throws when nobody waits for the answer any more: an acquire would leave a lease that nobody has.
 */
export function expectTime(endAt: number): void {
  if (systemClock.monotonic() >= endAt) throw new Error('there was no connection for it in time');
}

/** A property of an error, which may be anything. */
export function propertyOf(
  error: unknown,
  name: 'code' | 'errno' | 'errcode' | 'fatal' | 'message',
): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
}
