import { systemClock } from '../../time/clock.ts';

/** Value of a parameter. */
export type SqlValue = string | number | null;

/** Parameters of a statement, by the names that follow a colon in it. */
export type SqlParameters = Readonly<Record<string, SqlValue>>;

export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * A database client: each call is one command at the server. Statements contain `:name` for each parameter. Methods
 * reject with any error of the client.
 *
 * `endAt` is the deadline on the monotonic clock: a statement that is still waiting for a connection then is never sent.
 * By default it is the client's timeout from now.
 */
export interface SqlClient {
  /** Runs a statement that returns rows. */
  query(sql: string, parameters: SqlParameters, endAt?: number): Promise<readonly SqlRow[]>;
  /** Runs a statement that returns no rows. @returns the number of rows that match its WHERE, changed or not. */
  change(sql: string, parameters: SqlParameters, endAt?: number): Promise<number>;
  /** The statement failed because the table is missing. */
  isTableMissing(error: unknown): boolean;
  /** The statement failed because another session has just created the table. */
  isTablePresent(error: unknown): boolean;
  /** The statement failed because of concurrent statements, without effect. It may be retried at once. */
  isContention(error: unknown): boolean;
  /** The statement failed because of one of its values, or because of their size, without effect. */
  isOfValues(error: unknown): boolean;
}

/** A statement with positional parameters: its text, and the values in their order. */
export interface Positional {
  readonly text: string;
  values(parameters: SqlParameters): SqlValue[];
}

/** Replaces names by `$1`, `$2`, …; a name that occurs twice is sent once. */
export function withNumbers(sql: string): Positional {
  const numbers: Map<string, number> = new Map();
  const text = sql.replace(PARAMETER, (_, name: string) => {
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `$${number}`;
  });
  return {
    text,
    values: (parameters) => Array.from(numbers.keys(), (name) => parameterOf(parameters, name)),
  };
}

/** Replaces each occurrence of a name by a question mark. */
export function withQuestionMarks(sql: string): Positional {
  const names: string[] = [];
  const text = sql.replace(PARAMETER, (_, name: string) => {
    names.push(name);
    return '?';
  });
  return { text, values: (parameters) => names.map((name) => parameterOf(parameters, name)) };
}

/** Matches neither a cast, which has two colons, nor a time of day, which has digits. Identifiers have no colon: `tableName`. */
export const PARAMETER: RegExp = /(?<!:):([a-z]\w*)/gi;

export function parameterOf(parameters: SqlParameters, name: string): SqlValue {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`missing SQL parameter :${name}`);
  return value;
}

/**
 * A timer goes by whole milliseconds, and counts from the beginning of its turn of the event loop: that of the caller may end so
 * much earlier.
 */
const TIMER_MS = 5;

/**
 * Called before a statement is sent on a connection that it may have waited for.
 *
 * @throws after the deadline: the caller has stopped waiting, so that an acquire would leave an unused lease.
 */
export function throwIfLate(endAt: number): void {
  if (systemClock.monotonic() + TIMER_MS >= endAt)
    throw new Error('no connection became free within the timeout');
}

/** A thousand years: longer durations exceed the calendars of some databases. */
const LONGEST_MS = 365_250 * 86_400_000;

/** A duration as a parameter of a statement. */
export function durationParameter(ms: number): number {
  return Math.min(ms, LONGEST_MS);
}

/** Characters of the longest statement whose positional form is kept: those for several names may have many texts. */
export const LONGEST_KEPT = 10_000;

/** A property of an error of any type. */
export function propertyOf(
  error: unknown,
  name: 'code' | 'errno' | 'errcode' | 'fatal' | 'message',
): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
}
