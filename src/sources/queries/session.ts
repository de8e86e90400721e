/** A statement of the user, in the syntax of the driver. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
  /**
   * For comparison: each row is an array of what the database has sent, not of what the driver makes of it. A `Date` has milliseconds
   * only, a number loses digits, and an object has but one of two columns of the same name. @default false
   */
  readonly isRaw?: boolean;
}

/** Runs a statement. @returns its rows: one more than `maxRows` where it has more. */
export type Query = (statement: Statement) => Promise<readonly unknown[]>;

/**
 * Runs the statements of a load one after the other, in one snapshot of the database where the driver can. Rejects with any error of the
 * driver, or of `work`; a connection that is its own is then closed.
 */
export type Session = <R>(signal: AbortSignal, work: (query: Query) => Promise<R>) => Promise<R>;

/** The bounds of a statement. */
export interface QueryLimits {
  /** `Infinity`: none. */
  readonly timeoutMs: number;
  /** `Infinity`: none. */
  readonly maxRows: number;
}

/** The longest timeout of a statement that the databases take: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** @returns whole milliseconds; `undefined`: no timeout. */
export function statementMs({ timeoutMs }: QueryLimits): number | undefined {
  return timeoutMs === Infinity ? undefined : Math.min(Math.ceil(timeoutMs), LONGEST_MS);
}
