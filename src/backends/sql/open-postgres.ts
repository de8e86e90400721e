import { answerTimeoutMs } from '../../cluster/time-limits.ts';
import type { PostgresClient } from '../../drivers/pg.ts';
import type { PostgresJsClient } from '../../drivers/postgres-js.ts';
import type { OpenRecords } from '../../records/records-kind.ts';
import { openRecords, type SqlTableChoices } from './open-records.ts';
import { PostgresSql } from './postgres.ts';
import { postgresClient } from './postgres-js.ts';
import { PostgresRecords } from './postgres-records.ts';
import { postgresStatements } from './postgres-statements.ts';
import { TABLE, tableName } from './table-name.ts';

/**
 * @param part of the backend, whose steps it is for.
 * @throws {TicklessError} `OPTION` when one of these options breaks a rule.
 */
export function openPostgres(
  part: 'lock' | 'store',
  options: SqlTableChoices & { readonly client: PostgresClient | PostgresJsClient },
): OpenRecords {
  const client = new PostgresSql(postgresClient(options?.client), answerTimeoutMs(options?.timeout));
  return openRecords(part, options, {
    backend: 'postgres',
    client,
    quoted,
    definition: postgresTable,
    definedBy: 'postgresTable()',
    purge: postgresStatements,
    records: (table, name, timeoutMs) => new PostgresRecords(client, table, name, timeoutMs),
    longestName: 1024, // an index entry takes at most 2700 bytes
  });
}

/**
 * The statement that creates the table of a backend, a lock or a store in PostgreSQL: for migrations. A row is the record of a
 * name, or an earlier version of a snapshot.
 *
 * @param table @default 'tickless'
 * @throws {TicklessError} `OPTION` when the name of the table is invalid.
 */
export function postgresTable(table: string = TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table, quoted)} (
  name text COLLATE "C" NOT NULL,
  edition bigint NOT NULL,
  token bigint NOT NULL,
  id text NOT NULL,
  phase text NOT NULL,
  begun_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  text text NOT NULL,
  note text NOT NULL,
  replaced text,
  keep_ms double precision,
  PRIMARY KEY (name, edition)
)`;
}

function quoted(identifier: string): string {
  return `"${identifier}"`;
}
