import type { InstanceReport, StoredReport } from '../cluster/store-contract.ts';
import { isOptionError } from '../errors.ts';
import type { SqlParameters, SqlRow } from '../sql/client.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import { isPlausible } from '../sql/plausible.ts';
import type { SqlTable } from '../sql/sql-table.ts';
import { systemClock } from '../time/clock.ts';
import type { BesideReport, SqlReports } from './sql-reports.ts';

/** The most names of one statement. SQLite has 32,766 parameters. */
const MOST_NAMES = 5000;

/** How long no report is sent after one could not be stored. */
const REST_MS = 600_000;

/** How long a read waits for its report where the database is a part of this process, and another one is writing. */
const BEHIND_READ_MS = 50;

/** The steps of checks on the table of snapshots, and the reports with any step. */
export class SqlChecks {
  readonly #table: SqlTable;
  readonly #versions: (count: number) => string;
  readonly #openReports: () => SqlReports;
  readonly #isEmbedded: boolean;
  #opened: SqlReports | undefined;
  #restsUntil: number = Number.NEGATIVE_INFINITY;

  /** @param openReports called at the first report. It may throw an `OptionError`. */
  constructor(
    dialect: SqlDialect,
    name: string,
    table: SqlTable,
    isEmbedded: boolean,
    openReports: () => SqlReports,
  ) {
    this.#table = table;
    this.#isEmbedded = isEmbedded;
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

  async #rows(names: readonly string[], report: InstanceReport | undefined): Promise<readonly SqlRow[]> {
    const parameters = Object.fromEntries(names.map((name, i) => [`name_${i}`, name]));
    if (names.length === 0) return this.#with(report, undefined, async () => []);
    const answer = this.#versions(names.length);
    return this.#with(report, { batch: { answer }, parameters }, () => this.#table.query(answer, parameters));
  }

  /** Whether a report goes with reads and writes, as far as that is known. */
  get takesReports(): boolean {
    return this.#table.isBatchOneCommand !== false && this.#restsUntil <= systemClock.monotonic();
  }

  /** A query, and a report in the same command. */
  async query(sql: string, parameters: SqlParameters, report: InstanceReport): Promise<readonly SqlRow[]> {
    const plain = (): Promise<readonly SqlRow[]> => this.#table.query(sql, parameters);
    if (!this.#isEmbedded) return this.inOneCommand(report, { batch: { answer: sql }, parameters }, plain);
    const rows = await plain();
    const endAt = systemClock.monotonic() + BEHIND_READ_MS;
    await this.#with(report, undefined, async () => [], endAt).catch(() => {});
    return rows;
  }

  /** A batch with a report in it. @param plain the same without the report. */
  async inOneCommand<R>(
    report: InstanceReport,
    beside: BesideReport,
    plain: () => Promise<R>,
  ): Promise<R | readonly SqlRow[]> {
    if (this.#table.isBatchOneCommand === undefined) await this.#table.hasReturning(this.#table.endAt());
    return this.#with(this.#table.isBatchOneCommand ? report : undefined, beside, plain);
  }

  /** Where the table of reports can't be used the report is lost: readers depend on the rest. */
  async #with<R>(
    report: InstanceReport | undefined,
    beside: BesideReport | undefined,
    plain: () => Promise<R>,
    endAt?: number,
  ): Promise<R | readonly SqlRow[]> {
    if (report !== undefined && this.#restsUntil <= systemClock.monotonic()) {
      try {
        return await this.#reports.write(report, beside, endAt);
      } catch (error) {
        if (!this.#table.isUnusable(error) && !isOptionError(error)) throw error;
        this.#restsUntil = systemClock.monotonic() + REST_MS;
      }
    }
    return plain();
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    return this.#reports.list(beginning);
  }

  get #reports(): SqlReports {
    this.#opened ??= this.#openReports();
    return this.#opened;
  }
}
