import { answerTimeoutMs } from '../../cluster/time-limits.ts';
import { warnWithoutErrorListener } from '../../drivers/error-listener.ts';
import { warnOnce } from '../../drivers/warn-once.ts';
import { OptionChecks } from '../../option-checks.ts';
import type { OpenRecords } from '../../records/records-kind.ts';
import { MYSQL_TEXT, type MysqlClient, MysqlSql } from './mysql.ts';
import { MysqlRecords } from './mysql-records.ts';
import { mysqlStatements } from './mysql-statements.ts';
import { openRecords, type SqlTableChoices } from './open-records.ts';
import type { SqlTableOptions } from './sql-table.ts';
import { TABLE, tableName } from './table-name.ts';

/**
 * @param part of the backend, whose steps it is for.
 * @param hasBlocks of the server. @default until it does not know them
 * @throws {TicklessError} `OPTION` when one of these options breaks a rule.
 */
export function openMysql(
  part: 'lock' | 'store',
  options: SqlTableChoices & { readonly client: MysqlClient },
  hasBlocks?: boolean,
): OpenRecords {
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
  return openRecords(part, options, {
    backend: 'mysql',
    client,
    quoted,
    definition: mysqlTable,
    misspelled,
    definedBy: 'mysqlTable()',
    purge: mysqlStatements,
    records: (table, name, timeoutMs) => new MysqlRecords(client, table, name, timeoutMs),
    longestName: 512, // an index takes at most 768 characters
  });
}

/**
 * The statement that creates the table of a backend, a lock or a store in MySQL or MariaDB: for migrations. A row is the record of
 * a name, or an earlier version of a snapshot.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function mysqlTable(table: string = TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name VARCHAR(600) NOT NULL,
  edition BIGINT NOT NULL,
  token BIGINT NOT NULL,
  id TEXT NOT NULL,
  phase VARCHAR(16) NOT NULL,
  begun_at DATETIME(6) NOT NULL,
  changed_at DATETIME(6) NOT NULL,
  ends_at DATETIME(6) NOT NULL,
  text LONGTEXT NOT NULL,
  note MEDIUMTEXT NOT NULL,
  replaced VARCHAR(16),
  keep_ms DOUBLE,
  PRIMARY KEY (name, edition)
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
