import { commandTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import type { SqlClient } from './client.ts';
import type { SqlDialect } from './dialect.ts';
import { SqlTable, type SqlTableOptions } from './sql-table.ts';
import { tableName } from './table-name.ts';

/** The particulars of one database. */
export interface SqlKind {
  readonly client: SqlClient;
  readonly dialect: SqlDialect;
  /** The text of CREATE TABLE. */
  readonly definition: (table?: string) => string;
  /** The function that returns it, for error messages. */
  readonly definedBy: string;
  /** The text of CREATE TABLE for the older versions of a store. */
  readonly versionsDefinition?: (table?: string) => string;
  /** The table of the reports of instances beside that of a store. */
  readonly fleet?: SqlFleet;
  /** Longest name, in bytes of UTF-8. */
  readonly longestName: number;
  /** Longest owner, request id and host, in UTF-16 code units. `undefined`: any length. */
  readonly longestText?: number;
}

/** The text of CREATE TABLE for the reports of instances, and the function that returns it. */
export interface SqlFleet extends Pick<SqlKind, 'definition' | 'definedBy'> {
  /** The database is a part of this process: a read must not wait long for the lock that a report needs. */
  readonly isEmbedded?: true;
}

/** Options of the tables of locks and stores. */
export interface SqlTableChoices {
  readonly table?: string | undefined;
  readonly retention?: DurationLike | undefined;
  readonly timeout?: DurationLike | undefined;
}

const DAY_MS = 86_400_000;

/**
 * How long the client of a lock or a store waits for a reply, in milliseconds. `createLock` and `createStore` validate the
 * option.
 */
function timeoutOf(about: 'lock' | 'store', options: SqlTableChoices | undefined): number {
  return commandTimeoutMs(about, options?.timeout);
}

/**
 * The table of a lock or a store, and its statements.
 *
 * @param about the subject of errors: 'lock' or 'store'.
 * @throws {OptionError} when an option breaks a rule.
 */
export function openTable<S extends Pick<SqlTableOptions, 'expired' | 'purge' | 'older' | 'further'>>(
  about: 'lock' | 'store',
  options: SqlTableChoices,
  { client, dialect, definition, definedBy }: SqlKind,
  defaultTable: string,
  statementsFor: (dialect: SqlDialect, table: string) => S,
): { readonly table: SqlTable; readonly statements: S } {
  const checks = new OptionChecks(about);
  const retentionMs = checks.duration('retention', options.retention ?? 7 * DAY_MS);
  checks.done();
  const statements = statementsFor(dialect, tableName(about, options.table ?? defaultTable, dialect.quoted));
  const { expired, purge, older, further } = statements;
  const timeoutMs = timeoutOf(about, options);
  const table = new SqlTable({
    client,
    definition: definition(options.table),
    definedBy,
    timeoutMs,
    retentionMs,
    expired,
    purge,
    older,
    further,
  });
  return { table, statements };
}
