import { OptionChecks } from '../../option-checks.ts';
import { openRecords, type SqlRecords, type SqlTableChoices } from './open-records.ts';
import type { SqlTableOptions } from './sql-table.ts';
import { type SqliteClient, SqliteSql } from './sqlite.ts';
import { sqliteCells, sqlitePurge } from './sqlite-cells.ts';
import { TABLE, tableName } from './table-name.ts';

/** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
export function openSqlite(options: SqlTableChoices & { readonly client: SqliteClient }): SqlRecords {
  const checks = new OptionChecks('backend');
  checks.methods('client', options?.client, ['prepare']);
  checks.done();
  const client = new SqliteSql(options.client);
  return openRecords(options, {
    backend: 'sqlite',
    client,
    quoted,
    definition: sqliteTable,
    misspelled,
    definedBy: 'sqliteTable()',
    purge: sqlitePurge,
    cells: (name) => sqliteCells(client, name),
    longestName: 1024,
  });
}

/**
 * The statement that creates the table of a backend in SQLite: for migrations. A row is the record of a name,
 * or a long text of it.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function sqliteTable(table: string = TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name TEXT NOT NULL,
  part TEXT NOT NULL,
  body TEXT NOT NULL,
  main TEXT,
  expires_at REAL,
  PRIMARY KEY (name, part)
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
