import { oneByOne } from '../cluster/one-by-one.ts';
import { implausibleSnapshot } from '../cluster/plausible.ts';
import type {
  InstanceReport,
  SnapshotRead,
  SnapshotWrite,
  Store,
  StoredSnapshot,
  StoredVersion,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import type { SqlBatch, SqlParameters, SqlRow, SqlValue } from '../sql/client.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import { eachName } from '../sql/each-name.ts';
import { givenParameters } from '../sql/given.ts';
import { openTable, type SqlKind } from '../sql/sql-kind.ts';
import { durationParameter, type SqlTable } from '../sql/sql-table.ts';
import { tableName } from '../sql/table-name.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { SqlChecks } from './sql-checks.ts';
import { SqlReports } from './sql-reports.ts';
import {
  type BriefColumns,
  type StoreStatements,
  storeStatements,
  type VersionsTable,
} from './sql-statements.ts';
import type { StoreBackend } from './store-backend.ts';

/** Options of all SQL stores. */
export interface SqlStoreOptions extends StoreOptions {
  /**
   * The table, optionally with its schema: `'tickless_snapshot'`, `'ops.tickless_snapshot'`. Letters, digits, `_` and
   * `$`. It is quoted in statements, so case matters. Created on first use if it is missing.
   * @default 'tickless_snapshot'
   */
  readonly table?: string | undefined;
  /**
   * How long a snapshot is kept after its last write. Older ones are deleted after a write, at most once an hour (once in
   * ten minutes while there are absent keys); errors of that deletion are ignored. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** Default name of the table. */
export const STORE_TABLE = 'tickless_snapshot';

/** @throws {OptionError} when an option breaks a rule. */
export function sqlStore(options: SqlStoreOptions, kind: SqlKind): Store {
  const { keepVersions = 1 } = options;
  const versions = keepVersions > 1 ? versionsOf(options, kind) : undefined;
  const { table, statements } = openTable('store', options, kind, STORE_TABLE, (dialect, name) =>
    storeStatements(dialect, name, versions),
  );
  const store = new SqlStore(table, statements, keepVersions, checksOf(options, kind, table));
  return createStore(store, options, {
    longestName: kind.longestName,
    options: ['client', 'table', 'retention'],
  });
}

function checksOf(
  { table = STORE_TABLE }: SqlStoreOptions,
  kind: SqlKind,
  snapshots: SqlTable,
): SqlChecks | undefined {
  const { dialect, fleet } = kind;
  if (fleet === undefined) return undefined;
  const open = (): SqlReports => new SqlReports(table, snapshots, kind, fleet);
  const name = tableName('store', table, dialect.quoted);
  return new SqlChecks(dialect, name, snapshots, fleet.isEmbedded === true, open);
}

function versionsOf({ table = STORE_TABLE }: SqlStoreOptions, kind: SqlKind): VersionsTable {
  const { dialect, versionsDefinition = kind.definition } = kind;
  return { name: versionsTable(table, dialect.quoted), definition: versionsDefinition(table) };
}

/** The quoted name of the table of older versions. @throws {OptionError} when the name is invalid, or too long. */
export function versionsTable(table: string, quoted: SqlDialect['quoted']): string {
  return tableName('store', typeof table === 'string' ? `${table}_versions` : table, quoted);
}

/**
 * A store in a table: one row per name, one statement per step. A refused write writes the present values again. The
 * statements for several names are the same, with a row of values for each name.
 */
class SqlStore implements StoreBackend {
  readonly #table: SqlTable;
  readonly #statements: StoreStatements;
  readonly #keepVersions: number;
  readonly versions: StoreBackend['versions'];
  readonly reports: StoreBackend['reports'];
  readonly #checks: SqlChecks | undefined;
  #isOlder = false;

  constructor(
    table: SqlTable,
    statements: StoreStatements,
    keepVersions: number,
    checks: SqlChecks | undefined,
  ) {
    this.versions = checks && ((names, report) => checks.versions(names, report));
    this.reports = checks && ((beginning) => checks.reports(beginning));
    this.#keepVersions = keepVersions;
    this.#table = table;
    this.#statements = statements;
    this.#checks = checks;
  }

  get takesReports(): boolean {
    return this.#checks?.takesReports === true;
  }

  async read(
    name: string,
    newerThan: number = -1,
    version?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    const { versions } = this.#statements;
    if (version !== undefined && versions !== undefined) {
      const [found] = await this.#query(versions.read, { name, version }, report);
      return found && version > newerThan ? snapshotOf(found) : undefined;
    }
    const [row] = await this.#query(this.#statements.read, { name, newerThan }, report);
    return row && snapshotOf(row);
  }

  #query(
    sql: string,
    parameters: SqlParameters,
    report: InstanceReport | undefined,
  ): Promise<readonly SqlRow[]> {
    if (report === undefined || this.#checks === undefined) return this.#table.query(sql, parameters);
    return this.#checks.query(sql, parameters, report);
  }

  async history(name: string): Promise<StoredVersion[]> {
    const rows = await this.#table.query(this.#statements.history, { name });
    const listed = rows.map((row) => {
      const { payload: beginning, ...snapshot } = snapshotOf({ ...row, payload: row.beginning });
      return { ...snapshot, beginning, bytes: Number(row.bytes) };
    });
    return listed.sort((one, another) => another.version - one.version);
  }

  async readMany(
    reads: readonly SnapshotRead[],
    report?: InstanceReport,
  ): Promise<(StoredSnapshot | undefined | Error)[]> {
    const reportOnce = once(report);
    return eachName<SnapshotRead, StoredSnapshot | undefined>(reads, {
      nameOf: ({ name }) => name,
      send: async (some) => {
        const values = some.map(({ name, newerThan = -1 }) => ({ name, newerThan }));
        const sql = this.#statements.readEach(some.length);
        const rows = await this.#query(sql, givenParameters(values), reportOnce());
        return new Map(rows.map((row) => [String(row.name), snapshotOf(row)]));
      },
      missing: () => undefined,
      isOfValues: (error) => this.#table.isOfValues(error),
    });
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected: number = -1,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    const { write, writeWithToken, versions } = this.#statements;
    if (versions !== undefined || (report !== undefined && this.takesReports)) {
      const [answer] = await this.writeMany([{ name, payload, token, rejected, keepFor }], report);
      if (answer instanceof Error) throw answer;
      return answer as WriteAnswer;
    }
    const version = await this.#withColumns(keepFor, (brief) => {
      const values = { name, payload, ...keptFor(brief, keepFor) };
      return token === undefined
        ? this.#versionAfter(write(brief), values)
        : this.#versionAfter(writeWithToken(brief), { ...values, token, rejected });
    });
    this.#table.purgeSoon(keepFor);
    return answerOf(version, token);
  }

  /** A table of an earlier version lacks the columns of brief snapshots: there they are kept as any. */
  async #withColumns<R>(keepFor: number | undefined, write: (brief: BriefColumns) => Promise<R>): Promise<R> {
    if (this.#isOlder) return write('none');
    try {
      return await write(keepFor === undefined ? 'clear' : 'set');
    } catch (error) {
      if (!this.#table.isColumnMissing(error)) throw error;
      this.#isOlder = true;
      return write('none');
    }
  }

  async writeMany(
    writes: readonly SnapshotWrite[],
    report?: InstanceReport,
  ): Promise<(WriteAnswer | Error)[]> {
    const reportOnce = once(report);
    const answers = await eachName<SnapshotWrite, WriteAnswer>(writes, {
      nameOf: ({ name }) => name,
      kindOf: ({ token, rejected, keepFor }) => `${token === undefined} ${rejected} ${keepFor === undefined}`,
      sizeOf: ({ payload }) => payload.length,
      send: (some) => {
        const own = reportOnce();
        return this.#withColumns(some[0]?.keepFor, (brief) => this.#writeEach(some, brief, own));
      },
      missing: () => new Error('the row of the store was deleted right after the write'),
      isOfValues: (error) => this.#table.isOfValues(error),
    });
    this.#table.purgeSoon(Math.max(0, ...writes.map(({ keepFor = 0 }) => keepFor)));
    return answers;
  }

  async #writeEach(
    writes: readonly SnapshotWrite[],
    brief: BriefColumns,
    report: InstanceReport | undefined,
  ): Promise<ReadonlyMap<string, WriteAnswer | Error>> {
    const plain = (): Promise<ReadonlyMap<string, WriteAnswer | Error>> =>
      this.#statements.versions === undefined
        ? this.#writeOnly(writes, brief)
        : this.#table.batch(...this.#batchOf(writes, brief)).then((rows) => answersOf(writes, rows));
    if (report === undefined || this.#checks === undefined) return plain();
    const [batch, parameters] = this.#batchOf(writes, brief);
    const done = await this.#checks.inOneCommand(report, { batch, parameters }, plain);
    return done instanceof Map ? done : answersOf(writes, done as readonly SqlRow[]);
  }

  /** Without other rows than those of the names. */
  async #writeOnly(
    writes: readonly SnapshotWrite[],
    brief: BriefColumns,
  ): Promise<ReadonlyMap<string, WriteAnswer | Error>> {
    const endAt = this.#table.endAt();
    const hasReturning = await this.#table.hasReturning(endAt);
    const { writeEach, writeEachWithToken, versionOfEach, versionOfName } = this.#statements;
    const [{ token: isByToken, rejected = -1 }] = writes as [SnapshotWrite];
    // The next version of the name could be read as the one of this write.
    if (isByToken === undefined && !hasReturning) return this.#writeOneByOne(writes);
    const { length } = writes;
    const sql = isByToken === undefined ? writeEach(length, brief) : writeEachWithToken(length, brief);
    const parameters = { ...givenParameters(valuesOf(writes, brief)), rejected };
    const returned = await this.#table.query(
      hasReturning ? `${sql} RETURNING ${versionOfName}` : sql,
      parameters,
      endAt,
    );
    const rows = hasReturning ? returned : await this.#table.query(versionOfEach(length), parameters);
    return answersOf(writes, rows);
  }

  /** The same with other rows: where older versions are kept, it keeps the written ones beside these. */
  #batchOf(writes: readonly SnapshotWrite[], brief: BriefColumns): [SqlBatch, SqlParameters] {
    const { writeEach, writeEachWithToken, versionOfWritten, versions } = this.#statements;
    const [{ token, rejected = -1, keepFor }] = writes as [SnapshotWrite];
    const { length } = writes;
    const isKept = keepFor === undefined;
    const batch = {
      write: token === undefined ? writeEach(length, brief) : writeEachWithToken(length, brief),
      then: versions?.afterWrite(length, token !== undefined, isKept) ?? [],
      answer: versionOfWritten(length),
    };
    const older = isKept ? this.#keepVersions - 1 : 0;
    return [batch, { ...givenParameters(valuesOf(writes, brief)), rejected, older }];
  }

  async #writeOneByOne(writes: readonly SnapshotWrite[]): Promise<ReadonlyMap<string, WriteAnswer | Error>> {
    const answers = await oneByOne(writes, ({ name, payload, keepFor }) =>
      this.write(name, payload, undefined, undefined, keepFor),
    );
    return new Map(writes.map(({ name }, i) => [name, answers[i] as WriteAnswer | Error]));
  }

  async delete(name: string): Promise<boolean> {
    const statement = this.#statements.versions?.delete ?? this.#statements.delete;
    if (typeof statement === 'string') return (await this.#table.change(statement, { name })).matched > 0;
    const [row] = await this.#table.batch(statement, { name });
    return Number(row?.changed) > 0;
  }

  async #versionAfter(sql: string, parameters: SqlParameters): Promise<number> {
    if (!this.#statements.hasReturning) return (await this.#table.change(sql, parameters)).generatedId;
    const [row] = await this.#table.query(sql, parameters);
    return Number(row?.version);
  }
}

/** The report of the first of several statements. */
function once(report: InstanceReport | undefined): () => InstanceReport | undefined {
  let left = report;
  return () => {
    const own = left;
    left = undefined;
    return own;
  };
}

function keptFor(brief: BriefColumns, keepFor: number | undefined): Readonly<Record<string, number>> {
  return brief !== 'set' || keepFor === undefined ? {} : { keepFor: durationParameter(keepFor) };
}

function valuesOf(
  writes: readonly SnapshotWrite[],
  brief: BriefColumns,
): readonly Readonly<Record<string, SqlValue>>[] {
  return writes.map(({ name, payload, token, keepFor }) => ({
    ...{ name, payload, ...keptFor(brief, keepFor) },
    ...(token === undefined ? {} : { token }),
  }));
}

/** @param rows the names with the versions that they have now. */
function answersOf(
  writes: readonly SnapshotWrite[],
  rows: readonly SqlRow[],
): ReadonlyMap<string, WriteAnswer> {
  const versions = new Map(rows.map(({ name, version }) => [String(name), Number(version)]));
  return new Map(
    writes
      .filter(({ name }) => versions.has(name))
      .map(({ name, token }) => [name, answerOf(versions.get(name) as number, token)]),
  );
}

function answerOf(version: number, token: number | undefined): WriteAnswer {
  return { kind: token !== undefined && version > token ? 'refused' : 'written', version };
}

function snapshotOf(row: SqlRow): StoredSnapshot {
  if (Number(row.is_plausible) === 0) return implausibleSnapshot(row.version);
  const age = row.age === null ? Number.NaN : Number(row.age); // NULL comes from an edit
  return { version: Number(row.version), age, payload: String(row.payload) };
}
