import { implausibleSnapshot } from '../cluster/plausible.ts';
import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../cluster/store-contract.ts';
import type { SqlParameters } from '../sql/client.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import { isPlausible, successorOf } from '../sql/plausible.ts';
import { openTable, type SqlKind } from '../sql/sql-kind.ts';
import { PURGED_NAMES, type SqlTable } from '../sql/sql-table.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreEngine, type StoreOptions } from './create-store.ts';

/** Options of all SQL stores. */
export interface SqlStoreOptions extends StoreOptions {
  /**
   * The table, optionally with its schema: `'tickless_snapshot'`, `'ops.tickless_snapshot'`. Letters, digits, `_` and
   * `$`. It is quoted in statements, so case matters. Created on first use if it is missing.
   * @default 'tickless_snapshot'
   */
  readonly table?: string | undefined;
  /**
   * How long a snapshot is kept after its last write. Older ones are deleted after a write, at most once an hour;
   * errors of that deletion are ignored. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** Default name of the table. */
export const STORE_TABLE = 'tickless_snapshot';

/** @throws {OptionError} when an option breaks a rule. */
export function sqlStore(options: SqlStoreOptions, kind: SqlKind): SnapshotStore {
  const { table, statements } = openTable('store', options, kind, STORE_TABLE, storeStatements);
  return createStore(new SqlStore(table, statements), options, {
    longestName: kind.longestName,
    options: ['client', 'table', 'retention'],
  });
}

interface StoreStatements {
  readonly read: string;
  readonly write: string;
  readonly writeWithToken: string;
  /** The writes return the version as a row; else as `SqlChange.generatedId`. */
  readonly hasReturning: boolean;
  readonly delete: string;
  readonly expired: string;
  readonly purge: string;
}

function storeStatements(dialect: SqlDialect, table: string): StoreStatements {
  const { now, incoming, generateId } = dialect;
  const stored = (column: string): string => dialect.stored(table, column);
  const hasReturning = !dialect.assignsInTurn;
  const insert = (version: string): string => {
    const row = dialect.row({
      name: ':name',
      version: generateId(version),
      written_at: now,
      payload: dialect.long(':payload'),
    });
    return `INSERT INTO ${table} ${row} ${dialect.orUpdate}`;
  };
  const returning = hasReturning ? ' RETURNING version' : '';
  const isNewer = `(:token >= ${stored('version')} OR ${stored('version')} = :rejected OR NOT ${isPlausible(dialect, stored('version'))})`;
  const assign = (column: string): string =>
    `${column} = CASE WHEN ${isNewer} THEN ${incoming(column)} ELSE ${stored(column)} END`;
  const isExpired = `${dialect.plus('written_at', ':retention')} < ${now}`;

  return {
    read: `SELECT version, ${dialect.between('written_at', now)} AS age, ${dialect.returned('payload')},
      CASE WHEN ${isPlausible(dialect, 'version')} THEN 1 ELSE 0 END AS is_plausible FROM ${table}
      WHERE name = :name AND version > :newerThan`,
    write: `${insert(dialect.micros)} ${[
      `payload = ${incoming('payload')}`,
      `written_at = ${incoming('written_at')}`,
      `version = ${generateId(successorOf(dialect, stored('version')))}`,
    ].join(', ')}${returning}`,
    // The version is assigned last: some servers would compare the token with the new version.
    writeWithToken: `${insert(':token')} ${[
      assign('payload'),
      assign('written_at'),
      `version = ${generateId(`CASE WHEN ${isNewer} THEN :token ELSE ${stored('version')} END`)}`,
    ].join(', ')}${returning}`,
    hasReturning,
    delete: `DELETE FROM ${table} WHERE name = :name`,
    expired: `SELECT ${dialect.returned('name')} FROM ${table} WHERE ${isExpired} AND ${table}.name > :after
      ORDER BY ${table}.name LIMIT :limit`,
    purge: `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND ${isExpired}`,
  };
}

/** A store in a table: one row per name, one statement per step. A refused write writes the present values again. */
class SqlStore implements StoreEngine {
  readonly #table: SqlTable;
  readonly #statements: StoreStatements;

  constructor(table: SqlTable, statements: StoreStatements) {
    this.#table = table;
    this.#statements = statements;
  }

  async read(name: string, newerThan: number = -1): Promise<StoredSnapshot | undefined> {
    const [row] = await this.#table.query(this.#statements.read, { name, newerThan });
    if (row === undefined) return undefined;
    if (Number(row.is_plausible) === 0) return implausibleSnapshot(row.version);
    const age = row.age === null ? Number.NaN : Number(row.age); // NULL comes from an edit
    return { version: Number(row.version), age, payload: String(row.payload) };
  }

  async write(name: string, payload: string, token?: number, rejected: number = -1): Promise<WriteAnswer> {
    const { write, writeWithToken } = this.#statements;
    const version =
      token === undefined
        ? await this.#versionAfter(write, { name, payload })
        : await this.#versionAfter(writeWithToken, { name, payload, token, rejected });
    this.#table.purgeSoon();
    return { kind: token !== undefined && version > token ? 'refused' : 'written', version };
  }

  async delete(name: string): Promise<boolean> {
    return (await this.#table.change(this.#statements.delete, { name })).matched > 0;
  }

  async #versionAfter(sql: string, parameters: SqlParameters): Promise<number> {
    if (!this.#statements.hasReturning) return (await this.#table.change(sql, parameters)).generatedId;
    const [row] = await this.#table.query(sql, parameters);
    return Number(row?.version);
  }
}
