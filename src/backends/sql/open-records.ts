import { commandTimeoutMs, DEFAULT_TIMEOUT_MS } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import type { Cells } from '../../records/cells/cells.ts';
import { SwappedRecords } from '../../records/cells/swapped-records.ts';
import { type OpenRecords, RETENTION } from '../../records/records-kind.ts';
import { type DurationLike, toMillis } from '../../time/duration.ts';
import type { SqlClient } from './client.ts';
import { type CellStatements, SqlCells } from './sql-cells.ts';
import { SqlTable, type SqlTableOptions } from './sql-table.ts';
import { TABLE, tableName } from './table-name.ts';

/** The options of the table of a backend. */
export interface SqlOptions {
  /**
   * The table, optionally with its schema: `'tickless'`, `'ops.tickless'`. Letters, digits, `_` and `$`. It is quoted in
   * statements, so case matters; where the database does not tell `Shop` from `shop`, the second one is refused when it is used. Created on first use if it is missing. Lock and store may have the same one.
   * @default 'tickless'
   */
  readonly table?: string | undefined;
  /**
   * How long the record of a name is kept: of a lock after its lease and its hold, of a store after the last write. Older
   * ones are deleted after a change, at most once an hour (once in ten minutes while there are absent keys); errors of
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
  readonly cells: (name: string) => CellStatements;
  /** Longest name, in bytes of UTF-8. */
  readonly longestName: number;
}

/** Records and their cells. */
export interface SqlRecords extends OpenRecords {
  readonly cells: Cells;
}

/** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
export function openRecords<C extends SqlClient>(
  { table = TABLE, retention = RETENTION, timeout = DEFAULT_TIMEOUT_MS }: SqlTableChoices,
  { backend, client, quoted, definition, misspelled, definedBy, purge, cells, longestName }: SqlKind<C>,
): SqlRecords {
  const checks = new OptionChecks('backend');
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const name = tableName(table, quoted);
  const timeoutMs = toMillis(timeout);
  const own = new SqlTable({
    client,
    definition: definition(table),
    misspelled: misspelled?.(table),
    definedBy,
    timeoutMs: commandTimeoutMs(timeout),
    retentionMs,
    ...purge(name),
  });
  const isOfValues = (error: unknown): boolean => client.isOfValues(error);
  const all = new SqlCells(own, cells(name), isOfValues, timeoutMs);
  return {
    backend,
    records: new SwappedRecords(all, retentionMs),
    cells: all,
    longestName,
    options: ['client', 'table', 'retention'],
  };
}
