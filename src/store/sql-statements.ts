import type { SqlDialect } from '../sql/dialect.ts';
import { type Given, ofEach, ofOne } from '../sql/given.ts';
import { isPlausible, successorOf } from '../sql/plausible.ts';
import { PURGED_NAMES, type SqlTableOptions } from '../sql/sql-table.ts';
import { historyColumns, type VersionStatements, versionStatements } from './sql-versions.ts';

/** The table of the versions of a store, and the text that creates it. */
export interface VersionsTable {
  readonly name: string;
  readonly definition: string;
}

/** The use of the two columns of brief snapshots by a write. `none`: a table of an earlier version lacks them. */
export type BriefColumns = 'set' | 'clear' | 'none';

/** The statements of a store on one table. */
export interface StoreStatements {
  readonly read: string;
  /** All versions, without their payloads. */
  readonly history: string;
  readonly write: (brief: BriefColumns) => string;
  readonly writeWithToken: (brief: BriefColumns) => string;
  /** `read` and the writes of several names; `givenParameters` has their values. */
  readonly readEach: (count: number) => string;
  readonly writeEach: (count: number, brief: BriefColumns) => string;
  readonly writeEachWithToken: (count: number, brief: BriefColumns) => string;
  readonly versionOfEach: (count: number) => string;
  /** The same of names that the write of a batch has written. */
  readonly versionOfWritten: (count: number) => string;
  /** The columns that the writes of several names return. */
  readonly versionOfName: string;
  /** The writes return the version as a row; else as `SqlChange.generatedId`. */
  readonly hasReturning: boolean;
  readonly delete: string;
  readonly expired: string;
  readonly purge: string;
  /** For a table without the columns of brief snapshots. */
  readonly older: { readonly expired: string; readonly purge: string };
  /** Of a store that keeps older versions. */
  readonly versions: VersionStatements | undefined;
  readonly further: SqlTableOptions['further'];
}

/** The values of each name. */
const READ = { name: 'key', newerThan: 'whole' } as const;
const WRITTEN = { name: 'key', payload: 'long' } as const;
const BRIEF = { ...WRITTEN, keepFor: 'number' } as const;

/** @param versions where it keeps older versions. */
export function storeStatements(
  dialect: SqlDialect,
  table: string,
  versions: VersionsTable | undefined,
): StoreStatements {
  const { now, incoming } = dialect;
  const stored = (column: string): string => dialect.stored(table, column);
  const hasReturning = !dialect.assignsInTurn;
  const returning = hasReturning ? ' RETURNING version' : '';
  /**
   * The two writes, without RETURNING. The columns of brief snapshots count for one version only: a later write that is by
   * the clock leaves them as they are, and one with a token, which may be the same, clears them.
   *
   * @param rows the rows of several names
   */
  const writes = (
    brief: BriefColumns,
    rows?: string,
  ): { readonly byClock: string; readonly withToken: string } => {
    const given = rows === undefined ? ofOne : ofEach;
    const version = rows === undefined ? dialect.generateId : (expression: string): string => expression;
    const payload = rows === undefined ? dialect.long(':payload') : ofEach('payload');
    const insert = (first: string): string => {
      const row = {
        ...{ name: given('name'), version: version(first), written_at: now, payload },
        ...(brief === 'set'
          ? { brief_version: first, brief_until: dialect.plus(now, given('keepFor')) }
          : {}),
      };
      return `INSERT INTO ${table} ${dialect.row(row, rows)} ${dialect.orUpdate('name')}`;
    };
    const token = rows === undefined ? ':token' : incoming('version');
    const isNewer = `(${token} >= ${stored('version')} OR ${stored('version')} = :rejected OR NOT ${isPlausible(dialect, stored('version'))})`;
    const assign = (column: string, value = incoming(column)): string =>
      `${column} = CASE WHEN ${isNewer} THEN ${value} ELSE ${stored(column)} END`;
    const isRepeated = `${token} = ${stored('version')} AND ${incoming('payload')} = ${stored('payload')}`;
    const writtenAt = `CASE WHEN ${isRepeated} THEN ${stored('written_at')} ELSE ${incoming('written_at')} END`;
    return {
      byClock: `${insert(dialect.micros)} ${[
        `payload = ${incoming('payload')}`,
        `written_at = ${incoming('written_at')}`,
        ...(brief === 'set'
          ? [
              `brief_version = ${successorOf(dialect, stored('version'))}`,
              `brief_until = ${incoming('brief_until')}`,
            ]
          : []),
        `version = ${version(successorOf(dialect, stored('version')))}`,
      ].join(', ')}`,
      // The version is assigned last, and the payload after the time: some servers would compare with the new ones.
      withToken: `${insert(given('token'))} ${[
        assign('written_at', writtenAt),
        assign('payload'),
        ...(brief === 'set' ? [assign('brief_version'), assign('brief_until')] : []),
        ...(brief === 'clear' ? [assign('brief_version', 'NULL')] : []),
        `version = ${version(`CASE WHEN ${isNewer} THEN ${token} ELSE ${stored('version')} END`)}`,
      ].join(', ')}`,
    };
  };
  const one = { set: writes('set'), clear: writes('clear'), none: writes('none') };
  const listed = `${dialect.whole('version')}, ${dialect.between('written_at', now)} AS age,
      CASE WHEN ${isPlausible(dialect, 'version')} THEN 1 ELSE 0 END AS is_plausible`;
  const read = `${listed}, ${dialect.returned('payload')}`;
  const ofVersions =
    versions && versionStatements(dialect, { table, versions: versions.name }, { read, listed });
  const isRead = (given: Given): string => `name = ${given('name')} AND version > ${given('newerThan')}`;
  const versionOfName = `${dialect.returned('name')}, version`;
  const versionIn = (relation: string, count: number): string =>
    `SELECT ${versionOfName} FROM ${dialect.rows({ name: 'key' }, count)} JOIN ${relation} ON name = ${ofEach('name')}`;
  const isOld = `${dialect.plus('written_at', ':retention')} < ${now}`;
  const isOver = `(brief_version = version AND brief_until < ${now})`;
  const purges = (isExpired: string): StoreStatements['older'] => ({
    expired: `SELECT ${dialect.returned('name')} FROM ${table} WHERE ${isExpired} AND ${table}.name > :after
      ORDER BY ${table}.name LIMIT :limit`,
    purge: `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND ${isExpired}`,
  });

  return {
    read: `SELECT ${read} FROM ${table} WHERE ${isRead(ofOne)}`,
    history:
      ofVersions?.history ?? `SELECT ${historyColumns(dialect, listed)} FROM ${table} WHERE name = :name`,
    write: (brief) => `${one[brief].byClock}${returning}`,
    writeWithToken: (brief) => `${one[brief].withToken}${returning}`,
    readEach: (count) =>
      `SELECT ${dialect.returned('name')}, ${read} FROM ${dialect.rows(READ, count)} JOIN ${table} ON ${isRead(ofEach)}`,
    writeEach: (count, brief) =>
      writes(brief, dialect.rows(brief === 'set' ? BRIEF : WRITTEN, count)).byClock,
    writeEachWithToken: (count, brief) => {
      const columns = { ...(brief === 'set' ? BRIEF : WRITTEN), token: 'whole' } as const;
      return writes(brief, dialect.rows(columns, count)).withToken;
    },
    versionOfEach: (count) => versionIn(table, count),
    versionOfWritten: (count) => versionIn(dialect.written(table), count),
    versionOfName,
    hasReturning,
    delete: `DELETE FROM ${table} WHERE name = :name`,
    ...purges(`(${isOld} OR ${isOver})`),
    older: purges(isOld),
    versions: ofVersions,
    further: ofVersions && { ...ofVersions, definition: (versions as VersionsTable).definition },
  };
}
