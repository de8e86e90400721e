import { OptionChecks } from '../../option-checks.ts';
import type { OpenRecords } from '../../records/records-kind.ts';
import { openRecords, type SqlTableChoices } from './open-records.ts';
import type { SqlTableOptions } from './sql-table.ts';
import { type SqliteClient, SqliteSql } from './sqlite.ts';
import { SqliteRecords, sqlitePurge } from './sqlite-records.ts';
import { TABLE, tableName } from './table-name.ts';

/**
 * @param part of the backend, whose steps it is for.
 * @throws {TicklessError} `OPTION` when one of these options breaks a rule.
 */
export function openSqlite(
  part: 'lock' | 'store',
  options: SqlTableChoices & { readonly client: SqliteClient },
): OpenRecords {
  const checks = new OptionChecks('backend');
  checks.methods('client', options?.client, ['prepare']);
  checks.done();
  const client = new SqliteSql(options.client);
  return openRecords(part, options, {
    backend: 'sqlite',
    client,
    quoted,
    definition: sqliteTable,
    misspelled,
    definedBy: 'sqliteTable()',
    purge: sqlitePurge,
    records: (table, name) => new SqliteRecords(client, table, name),
    longestName: 1024,
  });
}

/**
 * The statement that creates the table of a backend, a lock or a store in SQLite: for migrations. A row is the record of a name,
 * or an earlier version of a snapshot.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function sqliteTable(table: string = TABLE): string {
  const number = (column: string): string =>
    `${column} INTEGER NOT NULL CHECK (typeof(${column}) IN ('integer', 'real'))`;
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name TEXT NOT NULL,
  edition INTEGER NOT NULL,
  ${number('token')},
  id TEXT NOT NULL,
  phase TEXT NOT NULL,
  ${number('begun_at')},
  ${number('changed_at')},
  ${number('ends_at')},
  text TEXT NOT NULL,
  note TEXT NOT NULL,
  replaced TEXT,
  keep_ms REAL,
  PRIMARY KEY (name, edition)
)`;
}

/** SQLite ignores the case of letters, also of quoted names. */
function misspelled(name: string): SqlTableOptions['misspelled'] {
  const [table = '', schema = 'main'] = name.split('.').reverse();
  const sql = `SELECT name FROM ${quoted(schema)}.sqlite_master WHERE type = 'table' AND name = :table COLLATE NOCASE AND name <> :table`;
  return { sql, parameters: { table } };
}

function quoted(identifier: string): string {
  return `"${identifier}"`;
}
