import { answerTimeoutMs } from '../../cluster/time-limits.ts';
import type { PostgresClient } from '../../drivers/pg.ts';
import type { PostgresJsClient } from '../../drivers/postgres-js.ts';
import { openRecords, type SqlRecords, type SqlTableChoices } from './open-records.ts';
import { PostgresSql } from './postgres.ts';
import { postgresCells, postgresPurge } from './postgres-cells.ts';
import { postgresClient } from './postgres-js.ts';
import { TABLE, tableName } from './table-name.ts';

/** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
export function openPostgres(
  options: SqlTableChoices & { readonly client: PostgresClient | PostgresJsClient },
): SqlRecords {
  const client = new PostgresSql(postgresClient(options?.client), answerTimeoutMs(options?.timeout));
  return openRecords(options, {
    backend: 'postgres',
    client,
    quoted,
    definition: postgresTable,
    definedBy: 'postgresTable()',
    purge: postgresPurge,
    cells: (name) => postgresCells(client, name),
    longestName: 1024, // an index entry takes at most 2700 bytes
  });
}

/**
 * The statement that creates the table of a backend in PostgreSQL: for migrations. A row is the record of a
 * name, or a long text of it.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function postgresTable(table: string = TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name text COLLATE "C" NOT NULL,
  part text COLLATE "C" NOT NULL,
  body text NOT NULL,
  main text COLLATE "C",
  expires_at timestamptz,
  PRIMARY KEY (name, part)
)`;
}

function quoted(identifier: string): string {
  return `"${identifier}"`;
}
