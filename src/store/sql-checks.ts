import type { InstanceReport, StoredReport } from '../cluster/store-contract.ts';
import { isOptionError } from '../errors.ts';
import type { SqlRow } from '../sql/client.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import { isPlausible } from '../sql/plausible.ts';
import type { SqlTable } from '../sql/sql-table.ts';
import { systemClock } from '../time/clock.ts';
import type { SqlReports } from './sql-reports.ts';

/** The most names of one statement. SQLite has 32,766 parameters. */
const MOST_NAMES = 5000;

/** How long no report is sent after one could not be stored. */
const REST_MS = 60_000;

/** The steps of checks on the table of snapshots, and the reports. */
export class SqlChecks {
  readonly #table: SqlTable;
  readonly #versions: (count: number) => string;
  readonly #openReports: () => SqlReports;
  #opened: SqlReports | undefined;
  #restsUntil: number = Number.NEGATIVE_INFINITY;

  /** @param openReports called at the first report. It may throw an `OptionError`. */
  constructor(dialect: SqlDialect, name: string, table: SqlTable, openReports: () => SqlReports) {
    this.#table = table;
    this.#openReports = openReports;
    this.#versions = (count) => {
      const names = Array.from({ length: count }, (_, i) => `:name_${i}`).join(', ');
      return `SELECT ${dialect.returned('name')}, version FROM ${name}
        WHERE ${name}.name IN (${names}) AND ${isPlausible(dialect, 'version')}`;
    };
  }

  async versions(names: readonly string[], report: InstanceReport | undefined): Promise<number[]> {
    const found = [...(await this.#rows(names.slice(0, MOST_NAMES), report))];
    for (let i = MOST_NAMES; i < names.length; i += MOST_NAMES) {
      found.push(...(await this.#rows(names.slice(i, i + MOST_NAMES), undefined)));
    }
    const versions = new Map(found.map(({ name, version }) => [String(name), Number(version)]));
    return names.map((name) => versions.get(name) ?? 0);
  }

  /** Where the table of reports can't be used the report is lost: readers depend on the versions. */
  async #rows(names: readonly string[], report: InstanceReport | undefined): Promise<readonly SqlRow[]> {
    const parameters = Object.fromEntries(names.map((name, i) => [`name_${i}`, name]));
    const query = names.length === 0 ? undefined : { sql: this.#versions(names.length), parameters };
    if (report !== undefined && this.#restsUntil <= systemClock.monotonic()) {
      try {
        return await this.#reports.write(report, query);
      } catch (error) {
        if (!this.#table.isUnusable(error) && !isOptionError(error)) throw error;
        this.#restsUntil = systemClock.monotonic() + REST_MS;
      }
    }
    return query === undefined ? [] : this.#table.query(query.sql, parameters);
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    return this.#reports.list(beginning);
  }

  get #reports(): SqlReports {
    this.#opened ??= this.#openReports();
    return this.#opened;
  }
}
