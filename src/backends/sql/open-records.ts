import { commandTimeoutMs } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import { LOCK, REPORT, SNAPSHOT } from '../../records/names.ts';
import type { Records } from '../../records/records.ts';
import { type OpenRecords, RETENTION } from '../../records/records-kind.ts';
import type { DurationLike } from '../../time/duration.ts';
import type { SqlClient } from './client.ts';
import { SqlTable, type SqlTableOptions } from './sql-table.ts';
import { TABLE, tableName } from './table-name.ts';

/** The options of the table of a backend, a lock or a store. */
export interface SqlOptions {
  /**
   * The table, optionally with its schema: `'tickless'`, `'ops.tickless'`. Letters, digits, `_` and `$`. It is quoted in
   * statements, so case matters; where the database does not tell `Shop` from `shop`, the second one is refused when it is used. Created on first use if it is missing. Lock and store may have the same one.
   * @default 'tickless'
   */
  readonly table?: string | undefined;
  /**
   * How long the record of a name is kept: of a lock after its lease and its hold, of a store after the last write. Older
   * ones are deleted after a write or a release, at most once an hour (once in ten minutes while there are absent keys); errors of
   * that deletion are ignored. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

export interface SqlTableChoices extends SqlOptions {
  readonly timeout?: DurationLike | undefined;
}

/** The particulars of one database. */
export interface SqlKind<C extends SqlClient> {
  /** Its name in log lines. */
  readonly backend: string;
  readonly client: C;
  readonly quoted: (identifier: string) => string;
  /** The text of CREATE TABLE. */
  readonly definition: (table?: string) => string;
  /** See {@link SqlTableOptions.misspelled}. */
  readonly misspelled?: (table: string) => SqlTableOptions['misspelled'];
  /** The function that returns it, for error messages. */
  readonly definedBy: string;
  /** @param name quoted. */
  readonly purge: (name: string) => Pick<SqlTableOptions, 'expired' | 'purge'>;
  readonly records: (table: SqlTable, name: string, timeoutMs: number) => Records;
  /** Longest name, in bytes of UTF-8. */
  readonly longestName: number;
}

/**
 * @param part of the backend, whose steps it is for.
 * @throws {TicklessError} `OPTION` when one of these options breaks a rule.
 */
export function openRecords<C extends SqlClient>(
  part: 'lock' | 'store',
  { table = TABLE, retention = RETENTION, timeout }: SqlTableChoices,
  { backend, client, quoted, definition, misspelled, definedBy, purge, records, longestName }: SqlKind<C>,
): OpenRecords {
  const checks = new OptionChecks('backend');
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const name = tableName(table, quoted);
  const timeoutMs = commandTimeoutMs(part, timeout);
  const own = new SqlTable({
    client,
    definition: definition(table),
    misspelled: misspelled?.(table),
    definedBy,
    timeoutMs,
    retentionMs,
    ...purge(name),
    owned: part === 'lock' ? [LOCK] : [REPORT, SNAPSHOT],
  });
  return {
    backend,
    records: records(own, name, timeoutMs),
    longestName,
    options: ['client', 'table', 'retention'],
  };
}
