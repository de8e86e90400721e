import { type InstanceReport, MOST_REPORTS, type StoredReport } from '../cluster/store-contract.ts';
import type { SqlBatch, SqlParameters, SqlRow } from '../sql/client.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import type { SqlFleet, SqlKind } from '../sql/sql-kind.ts';
import { durationParameter, PURGED_NAMES, SqlTable } from '../sql/sql-table.ts';
import { tableName } from '../sql/table-name.ts';

/** The quoted name of the table of reports. @throws {OptionError} when the name is invalid, or too long. */
export function fleetTable(table: string, quoted: SqlDialect['quoted']): string {
  return tableName('store', typeof table === 'string' ? `${table}_fleet` : table, quoted);
}

/** Reports that are over are deleted within this time of the next one. */
const PURGE_EVERY_MS = 60_000;

interface ReportStatements {
  readonly write: string;
  readonly list: string;
  readonly expired: string;
  readonly purge: string;
}

function reportStatements(dialect: SqlDialect, table: string): ReportStatements {
  const { now } = dialect;
  const row = {
    name: ':instance',
    written_at: now,
    expires_at: dialect.plus(now, ':keepFor'),
    report: dialect.long(':report'),
  };
  const assign = (column: string): string => `${column} = ${dialect.incoming(column)}`;
  const assigned = ['written_at', 'expires_at', 'report'].map(assign).join(', ');
  const name = dialect.returned('name');
  // A table of its own, because MySQL neither deletes from a table that a subquery reads nor takes a LIMIT there.
  const tooOld = `(SELECT written_at FROM (
    SELECT written_at FROM ${table} ORDER BY written_at DESC LIMIT 1 OFFSET ${MOST_REPORTS}) AS first_beyond)`;
  const isOver = `(expires_at <= ${now} OR written_at <= ${tooOld})`;
  return {
    write: `INSERT INTO ${table} ${dialect.row(row)} ${dialect.orUpdate('name')} ${assigned}`,
    list: `SELECT ${name}, ${dialect.between('written_at', now)} AS age, ${dialect.returned('report')} FROM ${table}
      WHERE expires_at > ${now} AND ${dialect.beginsWith(`${table}.name`, ':beginning')}
      ORDER BY written_at DESC LIMIT ${MOST_REPORTS}`,
    expired: `SELECT ${name} FROM ${table} WHERE ${isOver} AND ${table}.name > :after
      ORDER BY ${table}.name LIMIT :limit`,
    purge: `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND ${isOver}`,
  };
}

/** The other parts of the command of a report. */
export interface BesideReport {
  readonly batch: Pick<SqlBatch, 'answer'> & Partial<SqlBatch>;
  readonly parameters: SqlParameters;
}

/**
 * The reports of instances: a table beside that of the snapshots. Each instance purges it behind its first report, so it has the
 * newest `MOST_REPORTS` rows, and those of instances that are just beginning.
 */
export class SqlReports {
  readonly #table: SqlTable;
  readonly #statements: ReportStatements;

  /**
   * @param table the name of the table of the snapshots.
   * @throws {OptionError} when it is too long.
   */
  constructor(table: string, snapshots: SqlTable, { client, dialect }: SqlKind, fleet: SqlFleet) {
    this.#statements = reportStatements(dialect, fleetTable(table, dialect.quoted));
    const { expired, purge } = this.#statements;
    this.#table = new SqlTable({
      ...{ client, expired, purge, retentionMs: 0, purgeEveryMs: PURGE_EVERY_MS, beside: snapshots },
      definition: fleet.definition(table),
      definedBy: fleet.definedBy,
      timeoutMs: snapshots.timeoutMs,
    });
  }

  /**
   * Stores a report.
   *
   * @param beside the other parts of the same command, where the database has such commands. @returns the rows of its answer
   * @param endAt until when it is tried, without other parts.
   * @throws {MissingTableError} when the table is missing and can't be created.
   */
  async write(
    { instance, text, keepFor }: InstanceReport,
    beside: BesideReport | undefined,
    endAt?: number,
  ): Promise<readonly SqlRow[]> {
    const { write } = this.#statements;
    const own = { instance, report: text, keepFor: durationParameter(keepFor) };
    let rows: readonly SqlRow[] = [];
    if (beside === undefined) await this.#table.change(write, own, endAt);
    else {
      const { batch } = beside;
      const parameters = { ...beside.parameters, ...own }; // the other way round a thousand names take 30 ms
      rows = await this.#table.batch({ ...batch, then: [...(batch.then ?? []), write] }, parameters);
    }
    this.#table.purgeSoon();
    return rows;
  }

  /** Those of instances that begin with a text. */
  async list(beginning: string): Promise<StoredReport[]> {
    const rows = await this.#table.query(this.#statements.list, { beginning });
    return rows.map((row) => ({
      instance: String(row.name),
      text: String(row.report),
      age: Number(row.age),
    }));
  }
}
