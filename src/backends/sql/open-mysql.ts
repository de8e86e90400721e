import { answerTimeoutMs } from '../../cluster/time-limits.ts';
import { warnWithoutErrorListener } from '../../drivers/error-listener.ts';
import { warnOnce } from '../../drivers/warn-once.ts';
import { OptionChecks } from '../../option-checks.ts';
import { MYSQL_TEXT, type MysqlClient, MysqlSql } from './mysql.ts';
import { MysqlCells, mysqlPurge } from './mysql-cells.ts';
import { openRecords, type SqlRecords, type SqlTableChoices } from './open-records.ts';
import type { SqlTableOptions } from './sql-table.ts';
import { TABLE, tableName } from './table-name.ts';

/**
 * @param part of the backend, whose steps it is for.
 * @param hasBlocks of the server. @default until it does not know them
 * @throws {TicklessError} `OPTION` when one of these options breaks a rule.
 */
export function openMysql(
  options: SqlTableChoices & { readonly client: MysqlClient },
  hasBlocks?: boolean,
): SqlRecords {
  const checks = new OptionChecks('backend');
  checks.methods('client', options?.client, ['query']);
  checks.done();
  // A pool hears the errors of its connections itself.
  if (!('getConnection' in options.client)) {
    warnWithoutErrorListener(options.client, "connection.on('error', () => {})");
    warnOnce(
      'the client of mysql2 is one connection, which is not replaced when it breaks or its server becomes read-only. Give it a pool: createPool()',
    );
  }
  const client = new MysqlSql(options.client, answerTimeoutMs(options.timeout), hasBlocks);
  return openRecords(options, {
    backend: 'mysql',
    client,
    quoted,
    definition: mysqlTable,
    misspelled,
    definedBy: 'mysqlTable()',
    purge: mysqlPurge,
    cells: (name) => new MysqlCells(client, name),
    longestName: 512, // an index takes at most 768 characters
  });
}

/**
 * The statement that creates the table of a backend in MySQL or MariaDB: for migrations. A row is the record of
 * a name, or a long text of it.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function mysqlTable(table: string = TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name VARCHAR(600) NOT NULL,
  part VARCHAR(100) NOT NULL,
  \`body\` LONGTEXT NOT NULL,
  main VARCHAR(100),
  expires_at DATETIME(6),
  PRIMARY KEY (name, part)
) ENGINE = InnoDB DEFAULT ${MYSQL_TEXT}`;
}

/** With `lower_case_table_names`, as on Windows and macOS, a name of other letters is that of another table too. */
function misspelled(table: string): SqlTableOptions['misspelled'] {
  if (table === table.toLowerCase()) return undefined;
  const sql = 'SELECT LOWER(:table) AS name FROM DUAL WHERE @@lower_case_table_names <> 0';
  return { sql, parameters: { table } };
}

function quoted(identifier: string): string {
  return `\`${identifier}\``;
}
